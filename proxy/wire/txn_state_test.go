package wire

import (
	"os"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure each transition leads where the client, the link and the next event expect it, whatever state it comes in.
func TestTxTable(t *testing.T) {
	for e := range numTxEvents {
		for s := range numTxStates {
			next := s
			next.on(e)
			if next >= numTxStates {
				t.Fatalf("event %d in state %d leads to %d", e, s, next)
			}
			wants := map[string]bool{
				"what ends leaves nothing":                          e != txEnds || next == txNone,
				"an event of the link begins no block":              s.block() || !next.block() || e == txBegin || e == txAdopt,
				"only its end takes a block away":                   !s.block() || next.block() || e == txEnds,
				"a failure stays until the end or a savepoint":      !s.failed() || next.failed() || e == txEnds || e == txGoesBack,
				"nothing fails but by a failure":                    s.failed() || !next.failed() || e == txBreaks || e == txLoses,
				"an error ends what is no block":                    s.block() || e != txBreaks && e != txLoses || next == txNone,
				"what is lost is linked by an exchange alone":       s != txLost || !next.linked() || e == txSend || e == txSendNamed,
				"a lost connection leaves none linked":              e != txLoses || !next.linked(),
				"the link has what an exchange of a block was sent": e != txSend && e != txSendNamed || !s.block() || next.linked(),
				"an idle link has nothing implicit":                 e != txIdles || !next.implicit(),
				"one begun by name stays so while it is open":       s != txNamed || !next.implicit() || next == txNamed,
			}
			for want, held := range wants {
				if !held {
					t.Errorf("event %d in state %d leads to %d: %s", e, s, next, want)
				}
			}
		}
	}
}

// Ensure the ways of transactions lead through the table as a client sees them.
func TestTxWays(t *testing.T) {
	for name, way := range map[string]struct {
		events []txEvent
		is     txState
		told   proxy.State
		linked bool
	}{
		"nothing":                                {nil, txNone, proxy.Idle, false},
		"a statement without Sync":               {[]txEvent{txSend, txStays}, txImplicit, proxy.Idle, true},
		"and its Sync":                           {[]txEvent{txSend, txStays, txSend, txIdles}, txNone, proxy.Idle, false},
		"statements before a BEGIN of a message": {[]txEvent{txSendNamed, txStays}, txNamed, proxy.Idle, true},
		"and the BEGIN":                          {[]txEvent{txSendNamed, txStays, txAdopt}, txOpen, proxy.Open, true},
		"a BEGIN behind a statement":             {[]txEvent{txSend, txStays, txSend, txStays, txAdopt}, txOpen, proxy.Open, true},
		"BEGIN":                                  {[]txEvent{txBegin}, txBegun, proxy.Open, false},
		"BEGIN, BEGIN":                           {[]txEvent{txBegin, txBegin}, txBegun, proxy.Open, false},
		"and a statement":                        {[]txEvent{txBegin, txSend, txStays}, txOpen, proxy.Open, true},
		"one that fails":                         {[]txEvent{txBegin, txSend, txBreaks}, txFailed, proxy.Failed, true},
		"and going back":                         {[]txEvent{txBegin, txSend, txBreaks, txSend, txStays, txGoesBack}, txOpen, proxy.Open, true},
		"a refusal before the first":             {[]txEvent{txBegin, txBreaks}, txLost, proxy.Failed, false},
		"a connection that is lost":              {[]txEvent{txBegin, txSend, txLoses}, txLost, proxy.Failed, false},
		"the end":                                {[]txEvent{txBegin, txSend, txStays, txEnds}, txNone, proxy.Idle, false},
		"the end of a failure":                   {[]txEvent{txBegin, txSend, txBreaks, txEnds}, txNone, proxy.Idle, false},
	} {
		var s txState
		for _, e := range way.events {
			s.on(e)
		}
		if s != way.is || s.told() != way.told || s.linked() != way.linked {
			t.Errorf("%s: state %d, told %c, linked %v", name, s, s.told(), s.linked())
		}
	}
}

// Ensure the package comment shows the table as it is.
func TestTxTableIsDocumented(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"none", "implicit", "named", "begun", "open", "failed", "lost"}
	_, rows, _ := strings.Cut(string(src), strings.Join(names[:2], "      "))
	lines := strings.Split(rows, "\n")[1:]
	for e := range numTxEvents {
		fields := strings.Fields(lines[e])
		fields = fields[max(0, len(fields)-len(names)):]
		for s := range numTxStates {
			next, want := s, "–"
			if next.on(e); next != s {
				want = names[next]
			}
			if fields[s] != want {
				t.Errorf("%s: in state %s the comment says %s, and the table %s", lines[e], names[s], fields[s], want)
			}
		}
	}
}
