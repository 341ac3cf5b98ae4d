package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkCreate compares Create with a plain `git worktree add` of the same repository, turn by turn in one run, so
// that both see the same machine. The ratio is what counts.
func BenchmarkCreate(b *testing.B) {
	for _, files := range []int{20, 2000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			w := newWorld(b)
			dir := w.repo("r")
			for i := range files {
				w.write(dir, fmt.Sprintf("d%d/f%d.txt", i%40, i), fmt.Sprintf("content of %d\n", i))
			}
			w.commit(dir, "many")
			r := w.open(dir)
			var ours, plain time.Duration
			n := 0
			for b.Loop() {
				n++
				start := time.Now()
				c, err := r.Create(ctx, CreateOptions{Path: filepath.Join(w.dir, "tasks", fmt.Sprint("o", n)), Branch: fmt.Sprint("feature/o", n)})
				w.must(err)
				ours += time.Since(start)
				start = time.Now()
				p := filepath.Join(w.dir, "tasks", fmt.Sprint("p", n))
				w.run(dir, "worktree", "add", "-q", "--no-track", "-b", fmt.Sprint("feature/p", n), p, "main")
				plain += time.Since(start)
				b.StopTimer()
				w.must(os.RemoveAll(c.Path))
				w.must(os.RemoveAll(p))
				w.run(dir, "worktree", "prune")
				b.StartTimer()
			}
			b.ReportMetric(float64(ours)/float64(plain), "ratio")
			b.ReportMetric(float64(ours.Milliseconds())/float64(n), "create-ms")
			b.ReportMetric(float64(plain.Milliseconds())/float64(n), "git-ms")
		})
	}
}
