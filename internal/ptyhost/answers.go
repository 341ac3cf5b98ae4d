package ptyhost

// Exactly one side answers a query. The answerer is the first visible viewer with AnswersQueries; without one the screen
// answers. While a viewer is the answerer, the screen's answers wait until the viewer was handed the query, and are
// given after all when it leaves before that.

// unansweredMax bounds the answers that wait; a program that asks more without anyone reading gets fewer.
const unansweredMax = 64

// unanswered is an answer that the answerer is expected to give.
type unanswered struct {
	seq  uint64 // end of the chunk that held the query
	text []byte
}

// claimAnswers makes a the answerer from now on, if it can answer and nobody else does; t.mu must be held.
func (t *Terminal) claimAnswers(a *Attachment) {
	a.answerFrom = never
	if t.answerer == nil && a.opts.AnswersQueries && !t.exited {
		t.answerer = a
		a.answerFrom = t.ring.end
	}
}

// dropAnswers ends a's turn: the screen gives the answers that a was never asked for, and another viewer may follow;
// t.mu must be held.
func (t *Terminal) dropAnswers(a *Attachment) {
	a.answerFrom = never
	if t.answerer != a {
		return
	}
	t.answerer = nil
	for _, u := range t.pending {
		if u.seq > a.sent {
			t.in.post(u.text)
		}
	}
	t.pending = nil
	for v := range t.viewers {
		if v != a && v.synced && !v.hidden && v.opts.AnswersQueries {
			t.claimAnswers(v)
			return
		}
	}
}

// answeredUpTo forgets the answers to queries that were handed to the answerer; t.mu must be held.
func (t *Terminal) answeredUpTo(seq uint64) {
	for len(t.pending) > 0 && t.pending[0].seq <= seq {
		t.pending = t.pending[1:]
	}
	if len(t.pending) == 0 {
		t.pending = nil
	}
}

// giveAnswers handles what the screen would say to the chunk that ends at seq; t.mu must be held.
func (t *Terminal) giveAnswers(own, reply []byte, seq uint64) {
	if len(own) > 0 {
		t.in.post(own)
	}
	if len(reply) == 0 {
		return
	}
	if t.answerer == nil {
		t.in.post(reply)
		return
	}
	if len(t.pending) < unansweredMax {
		t.pending = append(t.pending, unanswered{seq, append([]byte(nil), reply...)})
	}
}
