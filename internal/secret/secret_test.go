package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestNeverShown(t *testing.T) {
	s := Of("hunter2")
	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "token", s, "in", struct{ T String }{s})
	j, _ := json.Marshal(struct{ T String }{s})
	out := b.String() + string(j) + fmt.Sprintf("%v %s %q %x %#v %+v %d", s, s, s, s, s, struct{ T String }{s}, s)
	if strings.Contains(out, "hunter2") || strings.Contains(out, "68756e74657232") {
		t.Fatalf("the value leaked: %s", out)
	}
}

func TestEqual(t *testing.T) {
	s := Mint()
	for guess, want := range map[string]bool{s.Reveal(): true, "": false, s.Reveal() + "0": false,
		strings.Repeat(s.Reveal(), 5): false, s.Reveal()[:63]: false} {
		if s.Equal(guess) != want {
			t.Errorf("Equal(len %d) = %v", len(guess), !want)
		}
	}
	if Of("").Equal("") {
		t.Error("an empty secret matched")
	}
	if len(s.Reveal()) != 64 || s == Mint() {
		t.Error("a minted token is 64 characters and unique")
	}
}
