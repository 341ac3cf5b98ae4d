package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termic/internal/api"
)

// TestCagedShellUnderAttack: the person's shell in a cage holds no token, reaches no terminal but its own, and sees nothing of
// the agent beside it but files. What the agent has left in the private home for it runs within the same walls.
func TestCagedShellUnderAttack(t *testing.T) {
	r := newRig(t)
	endpoint := call[api.MCPResult](r, "mcp_enable", nil)
	secret := filepath.Join(r.home, "secret")
	must(t, os.WriteFile(secret, []byte("kept"), 0o600))
	c := r.cageTask("boxed", "enforce", map[string]any{"mcp": true})
	token := c.ticket().token
	planted := filepath.Join(c.path, "planted")
	for _, name := range []string{".profile", ".bashrc", ".bash_profile", ".zshenv", ".zshrc", ".kshrc"} {
		c.run(fmt.Sprintf("echo 'cat %s > %s 2>&1; echo ran >> %s; ls %s >> %s 2>&1' > \"$HOME/%s\"", secret, planted, planted, r.data, planted, name))
	}
	made := call[api.TaskTabResult](r, "task_tab", map[string]any{"task": c.id, "kind": "caged-shell"})
	attacks := []string{
		"env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '",
		"ls -la /dev/pts; for p in /dev/pts/*; do echo typed > $p; done",
		"for p in $(seq 1 40); do [ $p = $$ ] || [ $p = $PPID ] || kill -0 $p; done",
		fmt.Sprintf("curl -s -m 3 --noproxy '*' -H 'X-Termic-Token: %s' http://127.0.0.1:%d/mcp && echo REACHED; true", token, endpoint.Port),
		`python3 -c "
import fcntl, termios
for c in 'touch pushed\n':
    fcntl.ioctl(0, termios.TIOCSTI, c.encode())
"; python3 -c "
import fcntl, struct
fcntl.ioctl(0, 0x541c, struct.pack('B', 3))
"`,
		"cat '" + secret + "'; ls -la '" + r.data + "'; find / -name '*.sock' -type s 2>/dev/null",
		"unshare -Ur true && echo UNSHARED; mount -t tmpfs x /mnt && echo MOUNTED; true",
	}
	script := filepath.Join(c.path, "attack.sh")
	must(t, os.WriteFile(script, []byte(strings.Join(attacks, "\n")+"\n"), 0o600))
	got := r.inShell(c.id, made.TabID, "{ sh ./attack.sh 2>&1; true; }", filepath.Join(c.path, "seen"))
	for _, never := range []string{token, "TERMIC_MCP_TOKEN", "kept", "REACHED", "UNSHARED", "MOUNTED", "termic.db", "termic.sock"} {
		if strings.Contains(strings.ReplaceAll(got, "X-Termic-Token: "+token, ""), never) {
			t.Errorf("the shell has %q:\n%s", never, got)
		}
	}
	if text, err := os.ReadFile(planted); err == nil && strings.Contains(string(text), "kept") {
		t.Errorf("what was planted reached %s", text)
	}
	time.Sleep(500 * time.Millisecond) // what was pushed into the terminal would be read by now
	if _, err := os.Lstat(filepath.Join(c.path, "pushed")); err == nil {
		t.Error("a program typed into the shell")
	}
	if !r.live(c.id).Tabs[0].Live {
		t.Error("the agent was ended from the shell")
	}
}

// TestLoginStaysInside: where return_login is off, a login that was refreshed in a cage changes nothing outside, whatever the
// agent does to its files; where it is on, it comes back. What the cage holds of the login goes with the task.
func TestLoginStaysInside(t *testing.T) {
	login := func(name string, ends time.Time) string {
		raw, err := json.Marshal(map[string]any{"claudeAiOauth": map[string]any{"accessToken": "sk-ant-oat01-" + name, "refreshToken": "sk-ant-ort01-" + name,
			"expiresAt": ends.UnixMilli(), "scopes": []string{"user:inference"}, "subscriptionType": "max"}})
		must(t, err)
		return string(raw)
	}
	for _, stays := range []bool{true, false} {
		t.Run(fmt.Sprintf("stays=%v", stays), func(t *testing.T) {
			r := newRig(t)
			r.stop()
			file := filepath.Join(r.data, "settings.toml")
			text, err := os.ReadFile(file)
			must(t, err)
			entry := fmt.Sprintf("[[agents]]\nid = \"claude\"\nname = \"Claude\"\ncommand = %q\nargs = [\"--manner\", \"osc7501\"]\nreturn_login = %v\n", fakeAgent, !stays)
			must(t, os.WriteFile(file, append(text, entry...), 0o600))
			own := filepath.Join(r.home, ".claude/.credentials.json")
			must(t, os.MkdirAll(filepath.Dir(own), 0o700))
			before := login(strings.Repeat("a", 80), time.Now().Add(time.Hour))
			must(t, os.WriteFile(own, []byte(before), 0o600))
			k := &killer{rig: r, bin: program(t)} // the user's home is that of the process
			k.serve()
			t.Cleanup(func() { _, _ = k.cmd.Process.Kill(), k.cmd.Wait() })
			var none json.RawMessage
			must(t, k.ask(t.Context(), "project_add", map[string]any{"path": r.repo, "name": "repo"}, &none))
			id := k.boxed("claude")
			if out := k.inside(id, `cat "$CLAUDE_CONFIG_DIR/.credentials.json"`); !strings.Contains(out, strings.Repeat("a", 80)) {
				t.Fatalf("the cage has no login: %s", out)
			}
			raw := login(strings.Repeat("b", 80), time.Now().Add(8*time.Hour))
			k.inside(id, `printf '%s' '`+raw+`' > "$CLAUDE_CONFIG_DIR/.credentials.json"; mkdir -p "$HOME/.claude"; cp "$CLAUDE_CONFIG_DIR/.credentials.json" "$HOME/.claude/other.json"; ln -sf "$CLAUDE_CONFIG_DIR/.credentials.json" "$HOME/link"`)
			must(t, k.ask(t.Context(), "task_stop", map[string]any{"task": id}, &none))
			changed := false
			for end := time.Now().Add(4 * time.Second); time.Now().Before(end) && !changed; time.Sleep(50 * time.Millisecond) {
				now, err := os.ReadFile(own)
				must(t, err)
				changed = string(now) != before
			}
			if changed == stays {
				t.Errorf("the login outside changed: %v\n%s", changed, k.out.String())
			}
			must(t, k.ask(t.Context(), "task_archive", map[string]any{"task": id, "discard": true}, &none))
			if now, err := os.ReadFile(own); err != nil || stays && string(now) != before {
				t.Errorf("after the archive: %s %v", now, err)
			}
		})
	}
}
