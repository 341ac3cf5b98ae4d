package shellenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// answerMax bounds what a shell may print, banner included.
const answerMax = 4 << 20

var errNoAnswer = errors.New("shell did not print its environment")

// questions returns the command lines that are tried, in order, each without the command itself.
//
// bash and zsh read some of their start-up files only when interactive, and people put their PATH there. Other shells
// differ in syntax, so that the command is one program with one quoted argument, which all of them understand; a shell
// that refuses even that is passed over for sh.
func questions(shell string) [][]string {
	var list [][]string
	switch strings.TrimSuffix(filepath.Base(shell), ".exe") {
	case "bash", "zsh", "fish":
		list = [][]string{{shell, "-i", "-l", "-c"}, {shell, "-l", "-c"}}
	case "nu":
		list = [][]string{{shell, "--login", "--interactive", "-c"}, {shell, "--login", "-c"}}
	case "pwsh":
		list = [][]string{{shell, "-Login", "-Command"}}
	case "csh", "tcsh": // they take no -l beside -c
		list = [][]string{{shell, "-c"}}
	case "elvish", "xonsh":
		list = [][]string{{shell, "-c"}}
	default:
		list = [][]string{{shell, "-l", "-c"}}
	}
	if shell != "/bin/sh" {
		list = append(list, []string{"/bin/sh", "-l", "-c"})
	}
	return list
}

// probeCommand prints the environment between two marks. It is text for any shell: a path and words, one of them in
// single quotes. The marks are put together by printf, so that a shell which prints its commands does not print them.
// Old versions of env have no -0; awk can do the same.
func probeCommand(mark string) string {
	a, b := mark[:16], mark[16:]
	script := fmt.Sprintf(`printf %%s%%s %s %s; env -0 2>/dev/null || `+
		`awk "BEGIN{for(k in ENVIRON)printf(\"%%s=%%s%%c\",k,ENVIRON[k],0)}"; printf %%s%%s %s %s`, a, b, b, a)
	return `/bin/sh -c '` + script + `'`
}

// runProbe asks one shell. Its process group is ended in any case: start-up files may leave something running that
// would hold the pipe open.
func runProbe(ctx context.Context, argv []string, env map[string]string, limit time.Duration) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	mark := hex.EncodeToString(raw)
	out, err := capture(ctx, append(argv[:len(argv):len(argv)], probeCommand(mark)), env, mark[16:]+mark[:16])
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", strings.Join(argv, " "), err)
	}
	got, err := parse(out, mark)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", strings.Join(argv, " "), err)
	}
	return got, nil
}

// capture runs a command until it printed the end mark, or ended, or ctx did.
func capture(ctx context.Context, argv []string, env map[string]string, end string) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = fromMap(env)
	cmd.Stdout = w
	cmd.Dir = env["HOME"]
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		cmd.Dir = string(filepath.Separator)
	}
	ownGroup(cmd)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var out bytes.Buffer
	chunk := make([]byte, 32<<10)
	for out.Len() < answerMax && !bytes.Contains(out.Bytes(), []byte(end)) {
		n, err := r.Read(chunk)
		out.Write(chunk[:n])
		if err != nil && !errors.Is(err, io.EOF) && ctx.Err() != nil {
			endGroup(cmd)
			_ = cmd.Wait()
			return nil, context.Cause(ctx)
		}
		if err != nil {
			break
		}
	}
	endGroup(cmd)
	_ = cmd.Wait() // how it ended does not matter: the marks tell whether it answered
	return out.Bytes(), nil
}

// parse finds what stands between the marks.
func parse(out []byte, mark string) (map[string]string, error) {
	_, rest, ok := bytes.Cut(out, []byte(mark))
	if !ok {
		return nil, errNoAnswer
	}
	body, _, ok := bytes.Cut(rest, []byte(mark[16:]+mark[:16]))
	if !ok {
		return nil, errNoAnswer
	}
	env := toMap(strings.Split(string(body), "\x00"))
	if len(env) == 0 || env["PATH"] == "" {
		return nil, errNoAnswer
	}
	return env, nil
}
