package proxy

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure an operator reads once which columns the statement role may not read, of those that policies open to readers, and
// again when they are others.
func TestUngrantedColumns(t *testing.T) {
	var log bytes.Buffer
	b := newBenchWith(t, policy.Limits{RequestsPerSecond: -1}, func(c *PoliciesConfig) {
		hides, err := policy.Parse([]byte(strings.NewReplacer("%NAME%", "hides", "%KINDS%", "select", "{scoped: true}", "{scoped: true, columns: {body: {read: false}}}").Replace(notes)))
		if err != nil {
			t.Fatal(err)
		}
		writes, err := policy.Parse([]byte(strings.NewReplacer("%NAME%", "writes", "%KINDS%", "insert", "{scoped: true}", "{scoped: true, access: [insert]}").Replace(notes)))
		if err != nil {
			t.Fatal(err)
		}
		c.Files = append(c.Files, hides, writes)
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	const all = `level=WARN table=public.notes columns="body, more" policies="writer, reader, hides"`
	for _, step := range []struct {
		columns, lacking []string
		want             string
	}{
		{[]string{"id", "server_id", "body"}, []string{"body"}, `level=WARN table=public.notes columns=body policies="writer, reader"`},
		{[]string{"id", "server_id", "body", "x"}, []string{"body"}, ""},
		{[]string{"id", "server_id", "body", "more"}, []string{"body", "more"}, all},
		{[]string{"id", "server_id", "body", "more", "y"}, []string{"body", "more"}, ""},
		{[]string{"id", "server_id", "body", "more"}, nil, `level=INFO table=public.notes were="body, more"`},
		{[]string{"id", "server_id", "body", "more"}, []string{"body", "more"}, all},
	} {
		log.Reset()
		b.lack(t, step.columns, step.lacking)
		if got := essence(log.String()); got != step.want {
			t.Errorf("%v lacking %v: logged %q, want %q", step.columns, step.lacking, got, step.want)
		}
	}
}

// Ensure a decision that was kept does not outlive a change of the privileges on its table's columns.
func TestGrantChangesDecisions(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1})
	columns := []string{"id", "server_id", "body"}
	const text = "SELECT body FROM notes WHERE server_id = ?"
	for _, lacking := range [][]string{{"body"}, nil, {"body"}, {"id"}} {
		b.lack(t, columns, lacking)
		want := Code("")
		if slices.Contains(lacking, "body") {
			want = policy.ColumnNotAllowed
		}
		for range 2 {
			if _, err := b.Check(t.Context(), Subject{}, text); codeOf(err) != want {
				t.Errorf("lacking %v: %v", lacking, err)
			}
		}
	}
}

// lack gives the table these columns, and takes the right to read some of them.
func (b *bench) lack(t *testing.T, columns, lacking []string) {
	t.Helper()
	since := time.Now()
	b.catalog.set(columns...)
	b.catalog.mu.Lock()
	for i := range b.catalog.schema.Tables[0].Columns {
		c := &b.catalog.schema.Tables[0].Columns[i]
		c.Unreadable = slices.Contains(lacking, c.Name)
	}
	b.catalog.mu.Unlock()
	if changed, err := b.Refresh(t.Context(), since); err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
}

// essence is a log's lines without their times and messages.
func essence(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		level, rest, _ := strings.Cut(line, ` msg="`)
		_, attributes, _ := strings.Cut(rest, `" `)
		lines = append(lines, level+" "+attributes)
	}
	return strings.Join(lines, "\n")
}
