#!/usr/bin/env bash
# sign.sh KEY [DIR] signs the checksums of the packages in DIR (build/out) with an ssh key of yours, and checks the signature as somebody who
# downloads it does:
#
#   ssh-keygen -Y verify -f allowed_signers -I termic -n termic-release -s SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS
set -euo pipefail
key=${1:-}
[ -n "$key" ] && [ -r "$key" ] || { echo 'sign: name the private key: make release KEY=~/.ssh/release_ed25519' >&2; exit 2; }
key=$(realpath "$key")
cd "${2:-$(dirname "${BASH_SOURCE[0]}")/../out}"
[ -s SHA256SUMS ] || { echo "sign: there is no SHA256SUMS in $PWD; run make package first" >&2; exit 1; }
sha256sum --quiet --check SHA256SUMS
rm -f SHA256SUMS.sig
ssh-keygen -q -Y sign -f "$key" -n termic-release SHA256SUMS
public=$(ssh-keygen -y -f "$key")
printf 'termic namespaces="termic-release" %s\n' "$public" >allowed_signers
ssh-keygen -Y verify -f allowed_signers -I termic -n termic-release -s SHA256SUMS.sig <SHA256SUMS
