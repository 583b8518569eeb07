package plans

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// remedy is what an operator can do about statements that became slower, to a copy of the
// database, its sessions or its policies.
type remedy struct {
	name     string
	sql      []string
	settings map[string]string
	custom   bool // the policies say planner: custom
}

// remedies are tried in this order; the first that helps is a statement's.
var remedies = []remedy{
	{name: "`n_distinct`, no parallel plans", sql: sized, settings: alone},
	{name: "an index", sql: indexed},
	{name: "an index, `n_distinct`, no parallel plans, and each `id` known to be another", sql: slices.Concat(indexed, sized, []string{distinct}), settings: alone},
	{name: "`random_page_cost = 1.1`", settings: map[string]string{"random_page_cost": "1.1"}},
	{name: "`planner: custom`", custom: true},
}

// opened is what always helps, since it is before.
const opened = "`planner: custom` and statistics of all columns"

// sized has Postgres expect of every server what one of fifty equal ones would have. The
// number is the operator's: nothing in it comes from values.
var sized = []string{`DO $$ DECLARE t text; BEGIN
		FOREACH t IN ARRAY ARRAY['end_users', 'conversations', 'messages', 'files'] LOOP
			EXECUTE format('ALTER TABLE public.%I ALTER COLUMN server_id SET (n_distinct = 50)', t);
		END LOOP; END $$`, "ANALYZE"}

// alone keeps a small server's statement, which is then taken for a larger one's, from waiting
// for workers to start.
var alone = map[string]string{"max_parallel_workers_per_gather": "0"}

// distinct is a superuser's: statistics of each id with the number of its values and nothing else.
const distinct = `INSERT INTO pg_statistic (starelid, staattnum, stainherit, stanullfrac, stawidth, stadistinct, stakind1, stakind2, stakind3, stakind4, stakind5,
		staop1, staop2, staop3, staop4, staop5, stacoll1, stacoll2, stacoll3, stacoll4, stacoll5)
	SELECT attrelid, attnum, false, 0, 36, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM pg_attribute
	WHERE attname = 'id' AND attrelid IN ('public.end_users'::regclass, 'public.conversations'::regclass, 'public.messages'::regclass, 'public.files'::regclass)`

// indexed is what the slow statements lack: the columns of a condition, then those of the order.
var indexed = []string{
	"CREATE INDEX ON public.messages (server_id, role, created_at, id)", "CREATE INDEX ON public.messages (server_id, role, id)",
	"CREATE INDEX ON public.messages (server_id, conversation_id, role, id)", "CREATE INDEX ON public.messages (server_id, conversation_id, created_at, id)",
	"CREATE INDEX ON public.conversations (server_id, title, created_at)", "CREATE INDEX ON public.conversations (server_id, created_at DESC, id)",
	"CREATE INDEX ON public.files (server_id, content_type, created_at)", "CREATE INDEX ON public.files (server_id, size_bytes)",
	"VACUUM",
}

// with is after with a remedy.
func (w *world) with(t *testing.T, m remedy) *world {
	t.Helper()
	mended := *w
	if m.sql != nil {
		const copied = "mended"
		execute(t, w.admin("postgres"), "DROP DATABASE IF EXISTS "+copied+" WITH (FORCE)", "CREATE DATABASE "+copied+" TEMPLATE after")
		execute(t, w.admin(copied), m.sql...)
		mended.after.url = strings.Replace(w.after.url, "/after", "/"+copied, 1)
	}
	mended.after.settings = maps.Clone(w.after.settings)
	maps.Copy(mended.after.settings, m.settings)
	if m.custom {
		mended.after.policies, mended.after.settings = w.before.policies, w.before.settings
	}
	return &mended
}

// remedied finds what helps each statement that became slower.
func (w *world) remedied(t *testing.T, all []result) {
	t.Helper()
	for _, m := range remedies {
		t.Run(m.name, func(t *testing.T) {
			mended := w.with(t, m)
			for _, server := range measured {
				p := mended.pair(t, server.id)
				for i := range all {
					r := &all[i]
					if r.server != server.name || !r.slower() || r.remedy != "" {
						continue
					}
					if with := p.best(t, r.statement); with.failed == "" && !with.slower() {
						r.remedy, r.mended = m.name, with.ratio()
					}
				}
			}
		})
	}
}

// listed is the Markdown of what became slower: a table for each remedy.
func listed(all []result) string {
	var b strings.Builder
	for _, m := range append(remedies, remedy{name: opened}) {
		rows := ""
		for _, r := range all {
			if r.slower() && (r.remedy == m.name || r.remedy == "" && m.name == opened) {
				rows += r.row()
			}
		}
		if rows != "" {
			fmt.Fprintf(&b, "\n| helped by %s | server | ms before | ms after | after / before | the same with the remedy |\n|---|---|---|---|---|---|\n%s", m.name, rows)
		}
	}
	return b.String()
}

func (r result) row() string {
	with := "1"
	if r.remedy != "" {
		with = fmt.Sprintf("%.1f", r.mended)
	}
	return fmt.Sprintf("| %s | %s | %.2f | %.2f | %.1f | %s |\n", r.name, r.server, milli(r.before), milli(r.after), r.ratio(), with)
}
