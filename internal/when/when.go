// Package when tells at which moments something is due that is said in the words of cron, or every so often.
//
// Cron speaks of the clock on a wall, which is set twice a year. What is due at fixed hours is due once on each of those days: in an
// hour that is left out, at the moment when the clock goes on; in one that comes twice, the first time. What is due in every hour goes on
// by real time, so that it neither pauses for an hour nor is due twice for the same moment.
//
// It reads no clock and starts nothing. The words are read by a library; which moment they mean is decided here.
package when

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
	_ "time/tzdata" // machines without a data base of time zones, such as small containers, have the same zones

	cron "github.com/netresearch/go-cron"
)

// MinEvery and MaxEvery bound the time between two dues that follow one another at the same distance: less than seconds is a loop, and
// more than a year is nothing that anybody waits for.
const (
	MinEvery = 5 * time.Second
	MaxEvery = 366 * 24 * time.Hour
)

// maxWords is the longest text of cron that is read.
const maxWords = 200

// maxYears is how many years ahead a due is looked for. The 29th of February is eight years from the one before around 2100.
const maxYears = 9

// Cron says when something is due by the clock on a wall.
type Cron struct {
	fields    *cron.SpecSchedule
	zone      *time.Location
	everyHour bool // by real time, since no hour is named
}

// ParseCron reads five fields (minute, hour, day of the month, month, day of the week; the day is right when either of two named ones
// is, as in every cron), or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually. zone is a name such as
// Europe/Berlin; empty for that of the machine. What is never due is refused.
func ParseCron(words, zone string) (*Cron, error) {
	words = strings.TrimSpace(words)
	location := time.Local
	if zone != "" {
		var err error
		if location, err = time.LoadLocation(zone); err != nil || zone == "Local" {
			return nil, fmt.Errorf("there is no time zone %q", zone)
		}
	}
	switch {
	case len(words) > maxWords:
		return nil, fmt.Errorf("the schedule is %d bytes long; at most %d are read", len(words), maxWords)
	case strings.ContainsAny(words, "="):
		return nil, errors.New("the time zone does not belong into the schedule")
	case strings.HasPrefix(words, "@every"), strings.HasPrefix(words, "@reboot"):
		return nil, fmt.Errorf("%q is not known", words)
	case !strings.HasPrefix(words, "@") && len(strings.Fields(words)) != 5:
		return nil, fmt.Errorf("a schedule has five fields, and %q has %d", words, len(strings.Fields(words)))
	}
	parser, err := cron.TryNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom)
	if err != nil {
		return nil, err
	}
	read, err := parser.WithMaxSearchYears(maxYears).Parse(words)
	if err != nil {
		return nil, inWords(parser, words, err)
	}
	fields, ok := read.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("%q is not known", words)
	}
	fields.Location = time.UTC // walls are looked at as if they were in UTC, where every hour is there once
	c := &Cron{fields: fields, zone: location, everyHour: bits.OnesCount64(fields.Hour&(1<<24-1)) == 24}
	if c.fields.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("%q is never due", words)
	}
	return c, nil
}

// cronFields are the five fields in their order, each with what it may say.
var cronFields = [5]struct{ name, bounds string }{
	{"minute", "0 to 59"}, {"hour", "0 to 23"}, {"day of the month", "1 to 31"}, {"month", "1 to 12, or jan to dec"}, {"day of the week", "0 to 7, or sun to sat"},
}

// inWords tells in which field the words are wrong. The library speaks of bounds and conversions, and does not say which field it means.
func inWords(parser cron.Parser, words string, err error) error {
	fields := strings.Fields(words)
	if strings.HasPrefix(words, "@") {
		return fmt.Errorf("%q is not known; there are @hourly, @daily, @weekly, @monthly and @yearly", words)
	}
	for i, f := range fields {
		alone := [5]string{"*", "*", "*", "*", "*"}
		alone[i] = f
		if _, ferr := parser.Parse(strings.Join(alone[:], " ")); ferr != nil {
			return fmt.Errorf("the %s cannot be %q; it is from %s", cronFields[i].name, f, cronFields[i].bounds)
		}
	}
	return err
}

// Zone is where the wall is whose clock is meant.
func (c *Cron) Zone() *time.Location { return c.zone }

// Bounds of how clocks are set. No zone has gone over or repeated more than a day, and in hours none more than reach.
const (
	around = 26 * time.Hour
	reach  = 3 * time.Hour
)

// maxSteps bounds the dues that are looked at in search of one: those of each minute in twice the reach.
const maxSteps = 2 * 2 * int(reach/time.Minute)

// Next is the first due after a moment; the zero time when there is none within nine years.
func (c *Cron) Next(after time.Time) time.Time {
	now := c.offset(after)
	from := wall(after, now)
	repeats := c.everyHour && c.offset(after.Add(reach)) < now
	last := from
	if repeats { // what a wall showed already is shown again soon
		from, last = from.Add(-reach), from.Add(reach)
	}
	var next time.Time
	for range maxSteps {
		if from = c.fields.Next(from); from.IsZero() || !next.IsZero() && from.After(last) {
			break
		}
		for _, m := range c.moments(from) {
			if m.After(after) && (next.IsZero() || m.Before(next)) {
				next = m
			}
		}
		if !next.IsZero() && !repeats {
			break
		}
	}
	return next.In(c.zone)
}

// moments are when a wall shows a time that is due and counts: once, as a rule.
func (c *Cron) moments(shown time.Time) []time.Time {
	before, after := c.offset(shown.Add(-around)), c.offset(shown.Add(around))
	var out []time.Time
	for _, ahead := range []time.Duration{before, after} {
		if m := shown.Add(-ahead); c.offset(m) == ahead && (len(out) == 0 || c.everyHour && !m.Equal(out[0])) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return []time.Time{c.change(shown.Add(-after), shown.Add(-before), before)}
	}
	return out
}

// change is the first moment in a stretch at which the clock is not as far ahead any more as it was before.
func (c *Cron) change(low, high time.Time, before time.Duration) time.Time {
	for high.Sub(low) > time.Second {
		middle := low.Add(high.Sub(low) / 2).Truncate(time.Second)
		if c.offset(middle) == before {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// offset is how far a clock in the zone is ahead of UTC at a moment.
func (c *Cron) offset(at time.Time) time.Duration {
	_, seconds := at.In(c.zone).Zone()
	return time.Duration(seconds) * time.Second
}

// wall is what a clock shows at a moment, as if that were UTC.
func wall(at time.Time, ahead time.Duration) time.Time { return at.UTC().Add(ahead) }
