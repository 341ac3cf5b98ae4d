package agent

import "strings"

// question is what a dialog on the screen asks, from the row that gives it away to the first thing that can be chosen,
// in one line; empty when there is no dialog. It is untrusted.
func (k Kind) question(s Screen) string {
	row, ok := k.dialog(s)
	if !ok {
		return ""
	}
	rows := s.tail(dialogRows)
	for i, r := range rows {
		if cleanText(sides.ReplaceAllString(r, "")) != row {
			continue
		}
		if menuOption.MatchString(r) {
			return row // a bare menu
		}
		var parts []string
		for _, r := range rows[i:] {
			if menuOption.MatchString(r) || rule.MatchString(r) {
				break
			}
			parts = append(parts, cleanText(sides.ReplaceAllString(r, "")))
		}
		return cleanText(strings.Join(parts, " "))
	}
	return row
}
