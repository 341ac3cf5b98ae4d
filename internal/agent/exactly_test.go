//go:build unix

package agent

import (
	"flag"
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// sends is how many prompts TestDeliveryExactlyOnce brings in all. The full run is 1,000.
var sends = flag.Int("sends", 64, "prompts of TestDeliveryExactlyOnce")

// manners are the ways of the fake agent in which a prompt must arrive, and with which recipe.
var manners = []struct {
	manner string
	kind   func() Kind
	args   []string
}{
	{"osc7501", kindFake, nil},
	{"report", kindFake, nil},
	{"title", kindFake, nil},
	{"osc9", kindFake, nil},
	{"osc133", kindFake, nil},
	{"progress", kindFake, nil},
	{"silent", kindFake, nil},
	{"silent", kindBare, nil},
	{"title,linemode", kindFake, nil},
	{"linemode", kindBare, nil},
	{"osc7501,cr-window", kindFake, nil},
	{"title,reads-bursts", kindFake, nil},
	{"title,ticking", kindFake, nil},
	{"osc7501,deaf", kindFake, []string{"--delay", "3s"}},
	{"title,drop-first-paste", kindFake, []string{"--delay", "2s"}},
	{"osc7501,banner-delay", kindFake, []string{"--delay", "2s"}},
	{"title,pending", kindFake, nil},
	{"osc7501,stage", kindFake, nil},
}

// prompt makes a text as people and programs write them, and as they should not.
func prompt(rnd *rand.Rand, i int) string {
	parts := []string{"fix the tests", "漢字かな交じり文", "naïve café", "👩‍👩‍👧 family", "العربية", "a\tb\tc", "\n", "\n\n", "line\nline\nline", "\x1b[201~", "\x1b[201~\rrm x\r", "\r\n",
		"1. one\n2. two\n3. three", "❯ 1. Yes\n  2. No", "Do you want to proceed? [y/N]", "> quoted", "────────", "[Pasted text #1 +3 lines]", "\x03\x04\x1a", "`code`", "{\"json\": true}", "--flag -x",
		strings.Repeat("long ", 60), strings.Repeat("very long text of one paste\n", 60), "trailing   ", "$(touch pwned)", "\u009b31m", "e\u0301"}
	var b strings.Builder
	b.WriteString([]string{"", "", "", "/", "!", "#", "@", " ", "1. ", "- ", "."}[rnd.Intn(11)])
	fmt.Fprintf(&b, "p%d", i)
	for range rnd.Intn(4) {
		b.WriteString([]string{" ", "", "\n"}[rnd.Intn(3)] + parts[rnd.Intn(len(parts))])
	}
	b.WriteString([]string{"", "", "", " @file", " .", "\n"}[rnd.Intn(6)])
	return b.String()
}

// TestDeliveryExactlyOnce holds the promise of the package: over every manner, the agent receives the exact bytes of
// each prompt once, in order; never none, twice or merged.
func TestDeliveryExactlyOnce(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	each := max(1, *sends/len(manners))
	var modes [3]atomic.Int64
	t.Run("manners", func(t *testing.T) {
		for n, m := range manners {
			name := m.manner + " " + m.kind().ID
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewSource(seed + int64(n)))
				k := m.kind()
				k.Special, k.Mentions = "/!#@", "@"
				log := filepath.Join(t.TempDir(), "log")
				r := startFake(t, k, log, append([]string{"--manner", m.manner}, m.args...)...)
				var want []string
				for i := range each {
					text := prompt(rnd, i)
					rec := mustSend(t, r, k, text, DeliverOptions{Fresh: i == 0, PromptID: fmt.Sprint("p", i)})
					modes[map[ReceiptMode]int{Confirmed: 0, Accepted: 1, Unconfirmed: 2}[rec.Mode]].Add(1)
					clean, err := Clean(text)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, k.Guarded(clean))
					if rnd.Intn(2) == 0 && k.Capable() && strings.ContainsAny(m.manner, "t7") {
						r.waitFor(t, "rest", 20*time.Second, func(s State, _ Screen) bool { return s.Work != Working })
					}
				}
				r.waitFor(t, "the last prompt", 10*time.Second, func(State, Screen) bool {
					got, _ := readLog(t, log)
					return len(got) >= len(want)
				})
				wantPrompts(t, log, want...)
				if _, events := readLog(t, log); len(events) != 0 {
					t.Errorf("events %+v", events)
				}
			})
		}
	})
	t.Logf("%d prompts: %d confirmed, %d accepted, %d unconfirmed", each*len(manners), modes[0].Load(), modes[1].Load(), modes[2].Load())
}
