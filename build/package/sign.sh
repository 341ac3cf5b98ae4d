#!/usr/bin/env bash
# sign.sh KEY [DIR] signs the checksums of the packages in DIR (build/out) with an ssh key of yours, and checks the signature as somebody who
# downloads it does:
#
#   ssh-keygen -Y verify -f allowed_signers -I termic -n termic-release -s SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS
#
# It also makes the feed by which the app tells of a newer release, latest.json and latest.json.sig, for the address that builds name. RELEASE_PAGE
# is an https address of a page about the release; FEED_DAYS is for how many days the feed is believed (180): sign again before they are over.
set -euo pipefail
key=${1:-}
[ -n "$key" ] && [ -r "$key" ] || { echo 'sign: name the private key: make release KEY=~/.ssh/release_ed25519' >&2; exit 2; }
key=$(realpath "$key")
cd "${2:-$(dirname "${BASH_SOURCE[0]}")/../out}"
[ -s SHA256SUMS ] || { echo "sign: there is no SHA256SUMS in $PWD; run make package first" >&2; exit 1; }
sha256sum --quiet --check SHA256SUMS
rm -f latest.json latest.json.sig # of an earlier release
public=$(ssh-keygen -y -f "$key")
printf 'termic namespaces="termic-release,termic-feed" %s\n' "$public" >allowed_signers

# sign FILE NAMESPACE signs for one purpose: a signature for the other does not pass for it.
sign() {
  rm -f "$1.sig"
  ssh-keygen -q -Y sign -f "$key" -n "$2" "$1"
  ssh-keygen -Y verify -f allowed_signers -I termic -n "$2" -s "$1.sig" <"$1"
}
sign SHA256SUMS termic-release

case $public in
  ssh-ed25519\ *) ;;
  *) echo 'sign: NOT MADE: the feed of releases, since the app takes the word of ssh-ed25519 keys alone' >&2; exit 0 ;;
esac
version=$(sed -n 's/.*  termic-\(.*\)\.cdx\.json$/\1/p' SHA256SUMS)
[ -n "$version" ] || { echo 'sign: SHA256SUMS names no list of what is in the packages, so the version is not known' >&2; exit 1; }
page=${RELEASE_PAGE:-}
case $page in
  '' | https://*) ;;
  *) echo 'sign: RELEASE_PAGE must begin with https://' >&2; exit 2 ;;
esac
case $page in *[\"\\[:cntrl:]]*) echo 'sign: RELEASE_PAGE is no address' >&2; exit 2 ;; esac
at() { date --utc --date="@$1" +%Y-%m-%dT%H:%M:%SZ; }
now=$(date +%s)
printf '{"format":1,"version":"%s","made":"%s","until":"%s","page":"%s"}\n' "$version" "$(at "$now")" "$(at $((now + ${FEED_DAYS:-180} * 86400)))" "$page" >latest.json
sign latest.json termic-feed
