package ptyhost

import (
	"fmt"
	"testing"
)

// A terminal that no process has open for a while is none that has ended.
func TestATerminalIsOpenedAgain(t *testing.T) {
	term := start(t, testHost(t), shellSpec(t, `t=$(tty); echo one; exec </dev/null >/dev/null 2>&1; sleep .3; echo two >"$t"; sleep .2; echo three >"$t"`))
	waitDone(t, term)
	if data, _, _ := term.Log(0); string(data) != "one\r\ntwo\r\nthree\r\n" {
		t.Errorf("printed %q", data)
	}
}

// What a program prints just before it ends is there. Linux tells the end of a terminal too early now and then: once in
// some thousand times on two busy processors.
func TestLastWordsAreNotLost(t *testing.T) {
	h := testHost(t)
	for i := range 200 {
		spec := shellSpec(t, "echo last words")
		spec.ID += fmt.Sprint("-", i)
		term := start(t, h, spec)
		waitDone(t, term)
		if data, _, _ := term.Log(0); string(data) != "last words\r\n" {
			t.Fatalf("time %d: printed %q", i, data)
		}
		<-term.gone
		h.Forget(spec.ID)
	}
}
