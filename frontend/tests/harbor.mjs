// What pictures show: two repositories, tasks in them, and an agent that seems to work. The fake agent of the tests would show its
// directives.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** A repository with enough in it to look like one. */
export function fill(profile) {
  const files = {
    "go.mod": "module harbor\n\ngo 1.26\n",
    "internal/limit/bucket.go":
      'package limit\n\nimport "sync"\n\n// Bucket lets requests pass at a rate.\ntype Bucket struct {\n\tmu     sync.Mutex\n\ttokens int\n\trate   float64 // tokens per second\n\tburst  float64\n}\n\n// Take reports whether a request may pass.\nfunc (b *Bucket) Take() bool {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\tif b.tokens > 0 {\n\t\tb.tokens--\n\t\treturn true\n\t}\n\treturn false\n}\n',
    "internal/http/router.go": "package http\n\nfunc routes() {}\n",
    "internal/http/throttle.go": "package http\n\n// Throttle is the old limiter.\nfunc Throttle() {}\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(profile.repo, name)), { recursive: true });
    writeFileSync(path.join(profile.repo, name), text);
  }
  profile.git(profile.repo, "add", ".");
  profile.git(profile.repo, "commit", "-q", "-m", "Add a limiter and a router");
}

/** What the agent of the first task changed. */
export function change(profile, dir) {
  const bucket = path.join(dir, "internal/limit/bucket.go");
  writeFileSync(
    bucket,
    'package limit\n\nimport (\n\t"sync"\n\t"time"\n)\n\n// Bucket lets requests pass at a rate.\ntype Bucket struct {\n\tmu     sync.Mutex\n\ttokens float64\n\tlast   time.Time\n\trate   float64 // tokens per second\n\tburst  float64\n}\n\n// Take spends one token and reports how long to wait for the next one.\n// A zero wait means the request may pass.\nfunc (b *Bucket) Take(now time.Time) time.Duration {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\tb.refill(now)\n\tif b.tokens >= 1 {\n\t\tb.tokens--\n\t\treturn 0\n\t}\n\treturn time.Duration((1 - b.tokens) / b.rate * 1e9)\n}\n',
  );
  profile.git(dir, "add", ".");
  profile.git(dir, "commit", "-q", "-m", "Refill buckets as time goes by");
  writeFileSync(
    path.join(dir, "internal/limit/bucket_test.go"),
    'package limit\n\nimport "testing"\n\nfunc TestTake(t *testing.T) {}\n',
  );
  profile.git(dir, "add", ".");
  writeFileSync(path.join(dir, "internal/http/router.go"), "package http\n\nfunc routes() {\n\tlimitByTenant()\n}\n");
  profile.git(dir, "rm", "-q", "internal/http/throttle.go");
  writeFileSync(path.join(dir, "NOTES.md"), "Limits come from the plan of a tenant.\n");
}

/** A program that prints what an agent might, and then works on: a picture of the fake agent would show its directives. */
export const transcript = String.raw`
b='\e[1m' d='\e[90m' g='\e[32m' y='\e[33m' o='\e[38;5;173m' r='\e[31m' z='\e[0m'
say() { printf "$@"; printf '\n'; }
sleep 3 # until the window is there, so that nothing has to be drawn anew
say "$b"'Demo agent'"$z $d"'in harbor-api'"$z"
say "$d"'────────────────────────────────────────────────────────────────────────'"$z"
printf '> '
read -r prompt
printf '\e]7501;state=working:app=demo\e\\\n'
say "$g● $z"'I will look at how a request finds its tenant, then build the bucket.'
say ''
say "$g● $z$b"'Read'"$z(internal/http/router.go)"
say "  $d"'└ 148 lines'"$z"
say "$g● $z$b"'Search'"$z(pattern: $y"'"tenantFromContext"'"$z, path: $y"'"internal"'"$z)"
say "  $d"'└ 11 files'"$z"
say ''
say "$g● $z$b"'Update'"$z(internal/limit/bucket.go)"
say "  $d"'└ 13 lines added, 7 removed'"$z"
say "     $d"'11'"$z $r-"' tokens int'"$z"
say "     $d"'11'"$z $g+"' tokens float64'"$z"
say "     $d"'12'"$z $g+"' last   time.Time'"$z"
say "     $d"'13'"$z   rate   float64 $d// tokens per second$z"
say ''
say "$g● $z$b"'Run'"$z(go test ./internal/limit/...)"
say "  $d└$z"' ok   harbor/internal/limit  '"$d"'0.412s'"$z"
say ''
say "$o✶ Wiring the limiter into the router…$z $d(1m 48s)$z"
say ''
printf '\e]0;wiring the limiter\a> '
exec cat
`;

/** The settings that make an agent of the transcript; DIR is the folder of the profile. */
export const demo = '[[agents]]\nid = "demo"\nname = "Demo agent"\ncommand = "/bin/bash"\nargs = ["DIR/demo.sh"]\n';
