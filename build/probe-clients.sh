#!/usr/bin/env bash
# probe-clients.sh runs the MCP clients that are here through a proxy in front of the endpoint, and writes what they sent
# into the table of docs/clients.md: Claude Code and Codex as build/e2e-clients.sh fetches them, and Gemini CLI and
# opencode if they are in the PATH. What is not here keeps its row.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
TERMIC_PROBE_WRITE=1 TIMEOUT="${TIMEOUT:-30m}" build/e2e-clients.sh -v -run '^TestProbe$'
git --no-pager diff --stat -- docs/clients.md
