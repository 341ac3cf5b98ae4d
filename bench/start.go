package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bare is the peer of a start: a Go program that prints a line.
const bare = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"ready\\n\") }\n"

// start times the app from exec to its ready line, in pairs with a bare Go program.
func start(_ context.Context, b *bench) ([]row, error) {
	src, bin := filepath.Join(b.dir, "bare.go"), filepath.Join(b.dir, "bare")
	if err := os.WriteFile(src, []byte(bare), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("go", "build", "-o", bin, src).CombinedOutput(); err != nil {
		_, _ = os.Stderr.Write(out)
		return nil, err
	}
	var ours, peer []time.Duration
	for range 9 {
		t := time.Now()
		r, err := b.serve()
		if err != nil {
			return nil, err
		}
		ours = append(ours, time.Since(t))
		if err := r.stop(); err != nil {
			return nil, err
		}
		t = time.Now()
		if err := exec.Command(bin).Run(); err != nil {
			return nil, err
		}
		peer = append(peer, time.Since(t))
	}
	o, p := median(ours), median(peer)
	return []row{{"start to ready, against a bare Go program", ms(o), ms(p), "+" + ms(o-p)}}, nil
}
