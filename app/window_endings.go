package app

import "time"

// How often the page is loaded anew after its process ended: what ends at each load would go on for ever.
const (
	mostEndings = 3
	endingsIn   = time.Minute
)

// endings remembers when the process that draws the page has ended.
type endings []time.Time

// again takes note of one more and reports whether to load the page once more.
func (e *endings) again(now time.Time) bool {
	kept := (*e)[:0]
	for _, at := range *e {
		if now.Sub(at) < endingsIn {
			kept = append(kept, at)
		}
	}
	*e = append(kept, now)
	return len(*e) <= mostEndings
}
