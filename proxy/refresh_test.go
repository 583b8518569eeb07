package proxy

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// TestNewColumn names a column that was added a moment ago: the refusal looks again.
func TestNewColumn(t *testing.T) {
	b := newBench(t, policy.Limits{})
	const text = "SELECT n.extra FROM notes n WHERE n.server_id = ?"
	if _, err := b.Check(t.Context(), Subject{}, text); codeOf(err) != policy.QueryFailed {
		t.Fatal(err)
	}
	b.catalog.set("id", "server_id", "body", "extra")
	time.Sleep(refusalPeriod)
	if _, err := b.Check(t.Context(), Subject{}, text); err != nil {
		t.Error(err)
	}
	reads := b.catalog.reads
	for range 50 {
		_, _ = b.Check(t.Context(), Subject{}, "SELECT n.nope FROM notes n WHERE n.server_id = ?")
	}
	if more := b.catalog.reads - reads; more > 2 {
		t.Errorf("a flood of refusals read the schema %d times", more)
	}
}

// TestMisfit renames what a policy goes by: the table is closed under it until that is mended,
// while another policy goes on. It is said once, and once when it is over.
func TestMisfit(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1})
	var log bytes.Buffer
	b.policies.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	hides, err := policy.Parse([]byte(strings.NewReplacer("%NAME%", "hides", "%KINDS%", "select",
		"{scoped: true}", "{scoped: true, columns: {body: {read: false}}}").Replace(notes)))
	if err != nil {
		t.Fatal(err)
	}
	b.policies.config.Files = append(b.policies.config.Files, hides)
	b.change(t, "id", "server_id", "body", "more")
	hidden, other := Subject{Caller: Caller{Policy: "hides"}}, Subject{}
	const secret = "SELECT renamed FROM notes WHERE server_id = ?"
	for _, step := range []struct {
		columns       []string
		hidden, other Code
		logged        string
	}{
		{[]string{"id", "server_id", "renamed"}, policy.TableNotAllowed, "", `level=ERROR msg="a table is closed`},
		{[]string{"id", "server_id", "renamed", "x"}, policy.TableNotAllowed, "", ``},
		{[]string{"id", "tenant", "renamed"}, policy.TableNotAllowed, policy.TableNotAllowed, `has no column server_id`},
		{[]string{"id", "server_id", "body", "renamed"}, "", "", `level=INFO`},
	} {
		log.Reset()
		b.change(t, step.columns...)
		if _, err := b.Check(t.Context(), hidden, secret); codeOf(err) != step.hidden || err != nil && (AsError(err).Retryable || AsError(err).Hint == "") {
			t.Errorf("%v: %v", step.columns, err)
		}
		if _, err := b.Check(t.Context(), other, reads); codeOf(err) != step.other {
			t.Errorf("%v, the other policy: %v", step.columns, err)
		}
		if want := step.hidden != ""; strings.Contains(b.recorder.found, policy.MisfitName+":[public.notes]") != want {
			t.Errorf("%v: recorded %s", step.columns, b.recorder.found)
		}
		if place, err := b.Admit(t.Context(), hidden); err != nil { // the look-up of users goes on
			t.Error(err)
		} else {
			place.Release()
		}
		if !strings.Contains(log.String(), step.logged) || (step.logged == "") != (log.Len() == 0) {
			t.Errorf("%v: logged %s", step.columns, log.String())
		}
		log.Reset()
		if _, err := b.Refresh(t.Context(), time.Now()); err != nil || log.Len() > 0 {
			t.Errorf("an unchanged misfit: %v, logged %s", err, log.String())
		}
	}
	if failed, changed := b.recorder.of("refresh failed"), b.recorder.of("refresh changed"); failed != 0 || changed != 6 {
		t.Errorf("%v", b.recorder.counts)
	}
}

// TestPlansOutliveOtherTables alters one table: what was decided about another stays known, and what was
// refused is looked at again.
func TestPlansOutliveOtherTables(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1})
	both, err := policy.Parse([]byte(strings.NewReplacer("%NAME%", "writer", "%KINDS%", "select", "{notes:", "{others: {scoped: true}, notes:").Replace(notes)))
	if err != nil {
		t.Fatal(err)
	}
	b.policies.config.Files[0] = both
	alter := func(change func(others *policy.Table)) {
		t.Helper()
		since := time.Now()
		b.catalog.mu.Lock()
		others := b.catalog.schema.Tables[0]
		if len(b.catalog.schema.Tables) > 1 {
			others = b.catalog.schema.Tables[1]
		}
		others.Name, others.Columns = "others", slices.Clone(others.Columns)
		change(&others)
		b.catalog.schema.Tables = []policy.Table{b.catalog.schema.Tables[0], others}
		b.catalog.mu.Unlock()
		if changed, err := b.Refresh(t.Context(), since); err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
	alter(func(*policy.Table) {})
	const other, join = "SELECT o.id FROM others o WHERE o.server_id = ?", "SELECT o.id FROM others o, notes n WHERE o.server_id = ? AND n.server_id = ?"
	misses := func() (n int) {
		for _, text := range []string{reads, other, join, "SELECT 1"} {
			if _, err := b.Check(t.Context(), Subject{}, text); err != nil {
				t.Fatal(text, err)
			}
		}
		return b.recorder.of("plan miss")
	}
	misses()
	known := misses()
	if got := misses(); got != known {
		t.Fatalf("%d misses for known texts", got-known)
	}
	alter(func(others *policy.Table) {
		others.Columns = append(others.Columns, policy.Column{Name: "new", TypeSchema: "pg_catalog", TypeName: "text"})
	})
	if got := misses() - known; got != 2 {
		t.Errorf("%d texts were decided again, not the two that name the altered table", got)
	}
	if d, err := b.Check(t.Context(), Subject{}, "SELECT o.new FROM others o WHERE o.server_id = ?"); err != nil || d == nil {
		t.Errorf("the new column: %v", err)
	}
	known = misses()
	b.catalog.mu.Lock()
	b.catalog.schema.Types = append(slices.Clone(b.catalog.schema.Types), policy.Type{Schema: "public", Name: "mood"})
	b.catalog.mu.Unlock()
	if _, err := b.Refresh(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := misses() - known; got != 4 {
		t.Errorf("%d texts were decided again after a change that concerns all, not four", got)
	}
}

// TestMisfitAtStart fails early where nothing could be served: the policy is meant for another database.
func TestMisfitAtStart(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.catalog.set("id", "body")
	if _, err := LoadPolicies(t.Context(), b.policies.config); err == nil || !strings.Contains(err.Error(), "has no column server_id") {
		t.Errorf("%v", err)
	}
}

// change sets the columns and waits until the policies follow.
func (b *bench) change(t *testing.T, columns ...string) {
	t.Helper()
	since := time.Now()
	b.catalog.set(columns...)
	if changed, err := b.Refresh(t.Context(), since); err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
}

// TestSchemaInAnyOrder has the tables come in another order: that is no change.
func TestSchemaInAnyOrder(t *testing.T) {
	b := newBench(t, policy.Limits{})
	notes, another := b.catalog.schema.Tables[0], policy.Table{Schema: "public", Name: "another"}
	a, z := policy.Type{Schema: "public", Name: "a"}, policy.Type{Schema: "public", Name: "z"}
	for i, schema := range []policy.Schema{
		{Tables: []policy.Table{notes, another}, Types: []policy.Type{a, z}}, {Tables: []policy.Table{another, notes}, Types: []policy.Type{z, a}},
	} {
		b.catalog.mu.Lock()
		b.catalog.schema = schema
		b.catalog.mu.Unlock()
		if changed, err := b.Refresh(t.Context(), time.Now()); err != nil || changed != (i == 0) {
			t.Errorf("%d: changed %v, %v", i, changed, err)
		}
	}
}

// TestSchemaThatCanNotBeRead leaves the policies as they were.
func TestSchemaThatCanNotBeRead(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.catalog.fail(errors.New("away"))
	if changed, err := b.Refresh(t.Context(), time.Now()); err == nil || changed || b.recorder.of("refresh failed") != 1 {
		t.Errorf("%v, %v, %v", changed, err, b.recorder.counts)
	}
	if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
		t.Error(err)
	}
	if b.catalog.adopted != 1 { // when it started
		t.Errorf("adopted %d times", b.catalog.adopted)
	}
	b.catalog.fail(nil)
	if _, err := b.Refresh(t.Context(), time.Now()); err != nil || b.catalog.adopted != 2 {
		t.Error(err, b.catalog.adopted)
	}
}

// TestRefreshIsShared has many ask at once: they wait for one reading, each no longer
// than it wants, and one that was made meanwhile serves.
func TestRefreshIsShared(t *testing.T) {
	b := newBench(t, policy.Limits{})
	slow := make(chan struct{})
	b.catalog.wait(slow)
	reads := b.catalog.count()
	since := time.Now()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := b.Refresh(t.Context(), since); err != nil {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := b.Refresh(ctx, since); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	close(slow)
	group.Wait()
	if _, err := b.Refresh(t.Context(), since); err != nil {
		t.Error(err)
	}
	if more := b.catalog.count() - reads; more != 1 {
		t.Errorf("the schema was read %d times", more)
	}
	// A reading that began before the statement did does not serve it.
	if _, err := b.Refresh(t.Context(), time.Now()); err != nil || b.catalog.count()-reads != 2 {
		t.Errorf("%v, %d readings", err, b.catalog.count()-reads)
	}
}

// TestRunStops ends the readings under way, too.
func TestRunStops(t *testing.T) {
	b := newBench(t, policy.Limits{})
	never := make(chan struct{})
	b.catalog.wait(never)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.policies.Run(ctx) }()
	refreshed := make(chan error)
	go func() { _, err := b.Refresh(t.Context(), time.Now()); refreshed <- err }()
	time.Sleep(20 * time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := <-refreshed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := b.Refresh(t.Context(), time.Now()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
