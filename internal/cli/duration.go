package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxDuration bounds what the command line takes: 30 days, for which a check can be put to sleep. The verb may cap it lower.
const maxDuration = 30 * 24 * time.Hour

var errDuration = errors.New("a duration is a number of seconds such as 90, or parts such as 1h30m or 1m30s, of at most 720h")

// parseDuration reads a number of seconds, or parts with h, m and s in that order. It returns milliseconds.
func parseDuration(s string) (int64, error) {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return limited(time.Duration(n) * time.Second)
	}
	if s == "" {
		return 0, errDuration
	}
	var total time.Duration
	for _, unit := range []struct {
		letter byte
		size   time.Duration
	}{{'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}} {
		digits := 0
		for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits == len(s) || s[digits] != unit.letter {
			continue
		}
		n, err := strconv.ParseUint(s[:digits], 10, 32)
		if err != nil {
			return 0, errDuration
		}
		total += time.Duration(n) * unit.size
		s = s[digits+1:]
	}
	if s != "" {
		return 0, errDuration
	}
	return limited(total)
}

func limited(d time.Duration) (int64, error) {
	if d > maxDuration || d < 0 {
		return 0, errDuration
	}
	return d.Milliseconds(), nil
}

// plainLength is a length as Go writes it, without the zeros at its end: "1h0m0s" is "1h".
func plainLength(s string) string {
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}
