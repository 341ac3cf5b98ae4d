# shellcheck shell=bash
# What set-up downloads when the machine's own Go or Node is missing or too old. Sourced, never run.
#
# Each pin is one version of one program, with the SHA-256 that its maker published for that archive.
# To move a pin: change the version, and replace both checksums by those of the same release
# (go.dev/dl lists them; for Node they are in SHASUMS256.txt of that version's folder).
#
# Every variable may be set from outside. That is how the download branch is tested against a server
# on the loopback address, and how a site with a mirror of its own points set-up at it: the mirror
# must hold the very same archives, since the checksums stay those of the makers.

# The oldest versions that are taken as found.
: "${GO_NEEDED:=1.26.0}"
: "${NODE_NEEDED:=20.19.0}"

: "${GO_VERSION:=1.26.8}"
: "${GO_BASE_URL:=https://go.dev/dl}"
: "${GO_SHA256_AMD64:=d0f743b33e8d8945e6b1f432edd15785c70507121d6e2a723b21285eddf8b57b}"
: "${GO_SHA256_ARM64:=211ffced9dcb9633a55eac6364816ec0ddd951389a740e88fa8b3337971bdda0}"

: "${NODE_VERSION:=22.22.2}"
: "${NODE_BASE_URL:=https://nodejs.org/dist}"
: "${NODE_SHA256_AMD64:=978978a635eef872fa68beae09f0aad0bbbae6757e444da80b570964a97e62a3}"
: "${NODE_SHA256_ARM64:=b2f3a96f31486bfc365192ad65ced14833ad2a3c2e1bcefec4846902f264fa28}"
