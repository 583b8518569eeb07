package proxy

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// TestUniqueTextsQueueNobodyElse has two servers of one project send texts that take long to check and
// that nobody has sent before, as many at a time as they like: the texts of another project's server
// wait for their own check alone.
func TestUniqueTextsQueueNobodyElse(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.parsing = NewTurns(4, 0)
	text := func(of string, n int) string {
		return fmt.Sprintf("SELECT id FROM notes WHERE server_id = ?%s AND body = '%s %d'", strings.Repeat(" AND body = 'x'", 100), of, n)
	}
	check := func(ctx context.Context, a Account, n int) time.Duration {
		start := time.Now()
		if _, err := b.Check(ctx, Subject{Server: Server{ID: a.Server, ProjectID: a.Project}}, text(a.Server, n)); err != nil && ctx.Err() == nil && codeOf(err) != Overloaded {
			t.Error(err)
		}
		return time.Since(start)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	var loud time.Duration
	checks := 0
	for i := range 64 {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n += 64 {
				took := check(ctx, Account{"loud", fmt.Sprint("loud", i%2)}, n)
				mu.Lock()
				loud, checks = loud+took, checks+1
				mu.Unlock()
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	var quiet time.Duration
	for n := range 20 {
		quiet += check(ctx, Account{"quiet", "quiet"}, n)
	}
	cancel()
	wg.Wait()
	quiet, loud = quiet/20, loud/time.Duration(checks)
	if quiet > loud/2 { // in one line, both take as long
		t.Errorf("the quiet one takes %v for a text, the loud ones %v", quiet, loud)
	}
}

// TestParsingLeavesAProcessor takes every place: there are fewer than processors, where there are several.
func TestParsingLeavesAProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int{1: 1, 2: 1, 4: 3} {
		runtime.GOMAXPROCS(processors)
		g := NewGate(GateConfig{})
		got := 0
		for g.parsing.Take(t.Context(), Account{fmt.Sprint("project", got), "server"}, time.Millisecond) == nil {
			got++
		}
		if got != want {
			t.Errorf("%d places on %d processors, not %d", got, processors, want)
		}
	}
}

// TestBusyIsTold says why a text is not checked: because all places are taken, or because its server has more than
// its share at work.
func TestBusyIsTold(t *testing.T) {
	b := newBench(t, policy.Limits{})
	for cause, want := range map[error]string{ErrBusy: "share", ErrNoTurn: "being checked", ErrServerShare: "being checked"} {
		if e := b.notParsed(cause); !strings.Contains(e.Message, want) || e.Code != Overloaded || !e.Retryable {
			t.Errorf("%v: %+v", cause, e)
		}
	}
	if b.notParsed(context.Canceled); b.recorder.of("short of parsing: all") != 1 {
		t.Error("a caller that has gone counts as refused")
	}
}
