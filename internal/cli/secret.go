package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"termic/internal/api"
	"termic/internal/fault"
)

// maxSecret is what is read of a value, in bytes; the verb's own limit is shorter, and says so.
const maxSecret = 64 << 10

// readSecret takes the value of a secret from a file or from standard input, and never from an argument, which others can read. At a
// terminal it is asked for, unseen.
func (r *runner) readSecret(inv invocation) (string, error) {
	if path := inv.text("file"); path != "" {
		if !filepath.IsAbs(path) && r.Dir != "" {
			path = filepath.Join(r.Dir, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return "", fault.Wrap(err, fault.InvalidArgument, "The file %s could not be read", path)
		}
		defer func() { _ = f.Close() }() // it was read, or is given up
		return readValue(f, path)
	}
	if f, ok := r.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(r.Stderr, "Value of %s: ", clean(inv.text("name")))
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(r.Stderr)
		if err != nil {
			return "", fault.Wrap(err, fault.InvalidArgument, "The value could not be read")
		}
		return string(b), nil
	}
	text, err := readValue(r.Stdin, "standard input")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err // which the tools of a shell put there
}

func readValue(from io.Reader, what string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxSecret))
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidArgument, "The value could not be read from %s", what)
	}
	return string(b), nil
}

func showSecrets(p *printer, r api.SecretListResult) {
	if len(r.Secrets) == 0 {
		p.note("There are no secrets. `termic secret set NAME` keeps one, from standard input.")
		return
	}
	rows := make([][]string, 0, len(r.Secrets))
	for _, s := range r.Secrets {
		rows = append(rows, []string{clean(s.Name), keptIn(s.KeptIn), s.Updated, s.Used, fmt.Sprint(len(s.Tasks)), fmt.Sprint(len(s.Projects)), clean(s.Note)})
	}
	p.table([]string{"NAME", "KEPT IN", "SET", "USED", "TASKS", "PROJECTS", "NOTE"}, rows)
}

func keptIn(where string) string {
	if where == "file" {
		return "a file"
	}
	return "the " + clean(where)
}

func showSecretSet(p *printer, r api.SecretSetResult) {
	p.printf("The value of %s is kept in %s\n", clean(r.Secret.Name), keptIn(r.Secret.KeptIn))
	if r.Why != "" {
		p.note("It is in a file of yours alone, since %s.", clean(r.Why))
	}
	showHolders(p, "These terminals go on with the older value until they are started again:", r.Holders)
}

func showSecretDeleted(p *printer, r api.SecretDeleteResult) {
	if r.Why == "" {
		p.printf("Forgot %s and its value\n", clean(r.Name))
	} else {
		p.printf("Forgot %s\n", clean(r.Name))
		p.note("%s. The value may be there still.", clean(r.Why))
	}
	showHolders(p, "These terminals go on with the value until they end:", r.Holders)
}

func showHolders(p *printer, what string, list []api.SecretHolder) {
	if len(list) == 0 {
		return
	}
	p.note("%s", what)
	for _, h := range list {
		p.printf("  %s, tab %s\n", clean(h.Task), clean(h.Tab))
	}
}
