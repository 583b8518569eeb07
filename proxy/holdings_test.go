package proxy

import (
	"testing"
)

// Ensure neither a server nor a project holds more than its share, what is given back can be taken
// again, and nothing is kept of who holds nothing.
func TestHoldings(t *testing.T) {
	h := NewHoldings(1000, 75)
	for i, step := range []struct {
		account string
		n       int
		err     error
	}{
		{"big/a", 563, nil}, {"big/a", 1, ErrServerShare}, {"big/b", 95, ErrProjectShare}, {"big/b", 94, nil}, {"big/c", 47, ErrProjectShare}, {"big/c", 46, nil}, {"big/c", 1, ErrProjectShare}, {"big/d", 11, nil}, {"big/c", 0, nil},
		{"small/a", 162, ErrNoTurn}, {"small/a", 161, nil}, {"small/a", 1, ErrNoTurn}, {"other/a", 63, ErrNoTurn}, {"other/a", 62, nil}, {"other/b", 1, ErrNoTurn}, {"third/a", 1, nil}, {"fourth/a", 62, nil}, {"fifth/a", 1, ErrNoTurn},
	} {
		if err := h.Take(accountOf(step.account), step.n); err != step.err { //nolint:errorlint // each is the other, too
			t.Errorf("step %d: %v, want %v", i, err, step.err)
		}
	}
	h.Give(accountOf("big/d"), 11)
	h.Give(accountOf("big/c"), 46)
	h.Give(accountOf("other/a"), 62)
	h.Give(accountOf("third/a"), 1)
	h.Give(accountOf("fourth/a"), 62)
	h.Give(accountOf("big/a"), 563)
	if err := h.Take(accountOf("big/c"), 400); err != nil {
		t.Error(err)
	}
	h.Give(accountOf("big/b"), 94)
	h.Give(accountOf("big/c"), 400)
	h.Give(accountOf("small/a"), 161)
	if h.taken != 0 || len(h.servers) != 0 || len(h.projects) != 0 {
		t.Errorf("left: %+v", h)
	}
}

// Ensure two projects leave a place to each of some others, and two servers to others of theirs.
func TestHoldingsReserve(t *testing.T) {
	h := NewHoldings(40, 75)
	for i, step := range []struct {
		account string
		n       int
		err     error
	}{
		{"big/a", 23, ErrServerShare}, {"big/b", 4, ErrProjectShare}, {"big/c", 1, ErrProjectShare}, {"big/d", 1, ErrProjectShare},
		{"second/a", 6, ErrNoTurn}, {"third/a", 1, ErrNoTurn}, {"fourth/a", 1, ErrNoTurn},
	} {
		n := 0
		var err error
		for err = h.Take(accountOf(step.account), 1); err == nil; err = h.Take(accountOf(step.account), 1) {
			n++
		}
		if n != step.n || err != step.err { //nolint:errorlint // each is the other, too
			t.Errorf("step %d: %d, then %v; want %d, then %v", i, n, err, step.n, step.err)
		}
	}
}
