package when

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func dues(t *testing.T, words, zone, from string, n int) string {
	t.Helper()
	c, err := ParseCron(words, zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, from)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for range n {
		at = c.Next(at)
		out = append(out, at.Format("01-02T15:04-0700"))
	}
	return strings.Join(out, " ")
}

// TestClockChanges: both changes of the clock in three zones, one of which goes by half an hour. Expected values are written by hand.
func TestClockChanges(t *testing.T) {
	for _, c := range []struct{ why, words, zone, from, want string }{
		{"Berlin: an hour is left out", "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", "03-28T02:30+0100 03-29T03:00+0200 03-30T02:30+0200"},
		{"Berlin: its end", "0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "03-29T03:00+0200 03-30T03:00+0200"},
		{"Berlin: both hours named", "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "03-29T03:00+0200 03-30T02:00+0200 03-30T03:00+0200"},
		{"Berlin: an hour comes twice", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "10-25T02:30+0200 10-26T02:30+0100"},
		{"Berlin: asked between the two", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "10-26T02:30+0100"},
		{"Berlin: every quarter of the hour that comes twice", "*/15 2 * * *", "Europe/Berlin", "2026-10-25T00:20:00Z", "10-25T02:30+0200 10-25T02:45+0200 10-26T02:00+0100"},
		{"Berlin: after it", "0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "10-25T03:00+0100 10-26T03:00+0100"},
		{"Berlin: every hour, by real time", "0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", "10-25T02:00+0200 10-25T02:00+0100 10-25T03:00+0100"},
		{"Berlin: every half hour over the gap", "*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", "03-29T01:30+0100 03-29T03:00+0200 03-29T03:30+0200"},
		{"New York: an hour is left out", "15 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "03-08T03:00-0400 03-09T02:15-0400"},
		{"New York: an hour comes twice", "15 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "11-01T01:15-0400 11-02T01:15-0500"},
		{"New York: asked between the two", "15 1 * * *", "America/New_York", "2026-11-01T06:05:00Z", "11-02T01:15-0500"},
		{"Lord Howe: half an hour is left out", "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "10-04T02:30+1100 10-05T02:15+1100"},
		{"Lord Howe: after the half hour", "45 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "10-04T02:45+1100 10-05T02:45+1100"},
		{"Lord Howe: half an hour comes twice", "45 1 * * *", "Australia/Lord_Howe", "2026-04-03T20:00:00Z", "04-05T01:45+1100 04-06T01:45+1030"},
		{"Lord Howe: asked in the second", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T15:05:00Z", "04-06T01:45+1030"},
		{"Lord Howe: every hour, by real time", "45 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", "04-05T01:45+1100 04-05T01:45+1030 04-05T02:45+1030"},
		{"the 29th of February", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "02-29T00:00+0000 02-29T00:00+0000"},
		{"the end of months", "0 0 31 * *", "UTC", "2026-01-31T00:00:00Z", "03-31T00:00+0000 05-31T00:00+0000"},
		{"day of month or of week", "0 0 13 * 5", "UTC", "2026-11-06T00:00:00Z", "11-13T00:00+0000 11-20T00:00+0000 11-27T00:00+0000 12-04T00:00+0000 12-11T00:00+0000 12-13T00:00+0000"},
		{"a name", "@daily", "Europe/Berlin", "2026-11-30T12:00:00Z", "12-01T00:00+0100"},
		{"names of days", "0 9 * * mon-fri", "UTC", "2026-11-27T10:00:00Z", "11-30T09:00+0000 12-01T09:00+0000"},
	} {
		if got := dues(t, c.words, c.zone, c.from, strings.Count(c.want, " ")+1); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}

// TestLeapYears: over the year 2100, which has no 29th of February, the next one is eight years away.
func TestLeapYears(t *testing.T) {
	c, err := ParseCron("0 12 29 2 *", "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var years []int
	for at, i := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0; i < 20; i++ {
		at = c.Next(at)
		years = append(years, at.Year())
		if at.Month() != time.February || at.Day() != 29 {
			t.Fatal(at)
		}
	}
	if years[0] != 2028 || years[17] != 2096 || years[18] != 2104 {
		t.Errorf("%v", years)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ words, zone string }{
		{"", ""}, {"* * * *", ""}, {"* * * * * *", ""}, {"60 * * * *", ""}, {"0 24 * * *", ""}, {"0 0 30 2 *", ""}, {"@every 1s", ""}, {"@reboot", ""}, {"@often", ""},
		{"CRON_TZ=UTC * * * * *", ""}, {"TZ=UTC 0 0 * * *", ""}, {"* * * * *", "Nowhere/Atall"}, {"* * * * *", "Local"}, {"* * * * *", "../../etc/passwd"}, {strings.Repeat("0,", 200) + "1 * * * *", ""},
	} {
		if _, err := ParseCron(c.words, c.zone); err == nil {
			t.Errorf("%q in %q was taken", c.words, c.zone)
		}
	}
}

// TestRefusedInWords: who writes a wrong field is told which one, and what may stand there.
func TestRefusedInWords(t *testing.T) {
	for words, want := range map[string]string{
		"61 * * * *":     `the minute cannot be "61"; it is from 0 to 59`,
		"0 9-25 * * *":   `the hour cannot be "9-25"; it is from 0 to 23`,
		"0 0 0 * *":      `the day of the month cannot be "0"; it is from 1 to 31`,
		"0 0 * foo *":    `the month cannot be "foo"; it is from 1 to 12, or jan to dec`,
		"0 0 * * 8":      `the day of the week cannot be "8"; it is from 0 to 7, or sun to sat`,
		"*/0 * * * *":    `the minute cannot be "*/0"; it is from 0 to 59`,
		"@nightly":       `"@nightly" is not known; there are @hourly, @daily, @weekly, @monthly and @yearly`,
		"0 0 31 2 *":     `"0 0 31 2 *" is never due`,
		"30 2 * * mon-":  `the day of the week cannot be "mon-"; it is from 0 to 7, or sun to sat`,
		"30 2 * * 1 2 3": `a schedule has five fields, and "30 2 * * 1 2 3" has 7`,
	} {
		if _, err := ParseCron(words, ""); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", words, err, want)
		}
	}
}

// TestNextIsAfter: whatever is asked, the next due is later, and asking from just before it gives it again; between two that follow one
// another there is no third.
func TestNextIsAfter(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago", "Africa/Casablanca", "Pacific/Apia"}
	words := []string{"* * * * *", "*/7 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 0 * * *", "59 23 31 12 *", "0 */6 * * 1", "0 0 29 2 *"}
	rapid.Check(t, func(t *rapid.T) {
		c, err := ParseCron(rapid.SampledFrom(words).Draw(t, "words"), rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1_000_000_000, 4_000_000_000).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		next := c.Next(at)
		if !next.After(at) {
			t.Fatalf("%v after %v", next, at)
		}
		if again := c.Next(next.Add(-time.Nanosecond)); !again.Equal(next) {
			t.Fatalf("%v, then %v", next, again)
		}
		if middle := at.Add(next.Sub(at) / 2); !c.Next(middle).Equal(next) {
			t.Fatalf("from %v %v, from %v %v", at, next, middle, c.Next(middle))
		}
	})
}

func FuzzParseCron(f *testing.F) {
	for _, s := range []string{"* * * * *", "0 2 * * 1-5", "@daily", "*/5 1,2 L * ?", "H H * * *"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, words string) {
		c, err := ParseCron(words, "Europe/Berlin")
		if err != nil {
			return
		}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 3 {
			next := c.Next(at)
			if next.IsZero() {
				return
			}
			if !next.After(at) {
				t.Fatalf("%q: %v after %v", words, next, at)
			}
			at = next
		}
	})
}
