package builtin_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
)

var walk = flag.Bool("walk", false, "have TestWalk measure, and write policies/testdata/walk-MAJOR.txt")

// The walk calls everything of the sets with ever larger arguments, under a short statement_timeout, and
// tells from the processor time of the backend whether it ends when it is asked to.
const (
	walkLimit = 100 // ms of statement_timeout
	walkLate  = 250 // ms of a processor that no statement uses that looks for interrupts
	walkGiven = 20 * time.Second
)

var walkSizes = []int{1_000, 4_000, 16_000, 64_000}

// subject is what is called: $0, $1, … in call stand for arguments of its types.
type subject struct {
	name, call string
	types      []string
	rows       bool // called for many rows, with small arguments
}

// subjectsSQL gives name, call and the types: of functions, operators and casts from text.
const subjectsSQL = `
SELECT p.oid::regprocedure::text, CASE WHEN a.aggkind IN ('o', 'h') THEN 'o' ELSE p.prokind::text END, p.proname::text, coalesce(a.aggnumdirectargs, 0)::int, p.provariadic NOT IN (0, '"any"'::regtype), p.proretset,
  ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, at) ORDER BY at)::text[]
FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ($1)
UNION ALL
SELECT o.oid::regoperator::text, 'operator', o.oprname, 0, false, false, array_remove(ARRAY[CASE WHEN o.oprleft <> 0 THEN format_type(o.oprleft, NULL) END, format_type(o.oprright, NULL)], NULL)
FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY ($2)
UNION ALL
SELECT 'text::' || format_type(t.oid, NULL), 'cast', format_type(t.oid, NULL), 0, false, false, ARRAY[format_type(t.oid, NULL)]
FROM pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname = ANY ($3)
ORDER BY 2, 1`

func subjects(t *testing.T, db *pgx.Conn) (all []subject) {
	t.Helper()
	rows, err := db.Query(t.Context(), subjectsSQL, policies.Sets()["@builtin-safe"], policies.Operators(), policies.Types())
	if err != nil {
		t.Fatal(err)
	}
	var signature, kind, name string
	var direct int
	var variadic, set bool
	var types []string
	_, err = pgx.ForEachRow(rows, []any{&signature, &kind, &name, &direct, &variadic, &set, &types}, func() error {
		all = append(all, asSubject(signature, kind, name, direct, variadic, set, slices.Clone(types)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func asSubject(signature, kind, name string, direct int, variadic, set bool, types []string) subject {
	args := make([]string, len(types))
	for i := range types {
		args[i] = fmt.Sprintf("$%d", i)
	}
	if variadic {
		args[len(args)-1] = "VARIADIC " + args[len(args)-1]
	}
	f := `pg_catalog."` + name + `"`
	list := strings.Join(args, ", ")
	switch kind {
	case "operator":
		op := "OPERATOR(pg_catalog." + name + ")"
		if len(args) == 1 {
			return subject{"operator " + signature, "SELECT (" + op + " $0) IS NULL", types, false}
		}
		return subject{"operator " + signature, "SELECT ($0 " + op + " $1) IS NULL", types, false}
	case "cast":
		return subject{"cast " + signature, "SELECT (($0)::text::" + name + ") IS NULL", types, false}
	case "a":
		if list == "" {
			list = "*"
		}
		return subject{"aggregate " + signature, "SELECT " + f + "(" + list + ") IS NULL FROM generate_series(1, $n) g", types, true}
	case "o":
		return subject{"aggregate " + signature, "SELECT " + f + "(" + strings.Join(args[:direct], ", ") + ") WITHIN GROUP (ORDER BY " + strings.Join(args[direct:], ", ") + ") IS NULL FROM generate_series(1, $n) g", types, true}
	case "w":
		return subject{"window " + signature, "SELECT count(w) FROM (SELECT " + f + "(" + list + ") OVER (ORDER BY g) FROM generate_series(1, $n) g) s(w)", types, true}
	}
	if set {
		return subject{"function " + signature, "SELECT count(*) FROM (SELECT " + f + "(" + list + ")) s", types, false}
	}
	return subject{"function " + signature, "SELECT (" + f + "(" + list + ")) IS NULL", types, false}
}

// walked is what came of one subject.
type walked struct {
	subject
	shape   string
	ms      []float64 // at walkSizes
	verdict string
}

func (w walked) String() string {
	times := make([]string, len(w.ms))
	for i, ms := range w.ms {
		times[i] = fmt.Sprintf("%d:%s", walkSizes[i], short(ms))
	}
	return strings.Join([]string{w.name, w.verdict, fmt.Sprintf("n^%.1f", growth(w.ms)), strings.Join(times, " "), w.shape}, "\t")
}

func short(ms float64) string {
	if ms >= 10 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

// growth is the power of the size by which the time grew in the last step that says something; 0 where none does.
func growth(ms []float64) float64 {
	for i := len(ms) - 1; i > 0; i-- {
		if ms[i-1] >= 3 {
			return math.Log(ms[i]/ms[i-1]) / math.Log(float64(walkSizes[i])/float64(walkSizes[i-1]))
		}
	}
	return 0
}

// walker calls subjects.
type walker struct {
	t    *testing.T
	db   *pgx.Conn
	made map[string]float64
}

func (w *walker) connect() {
	db, err := pgx.Connect(w.t.Context(), pgtest.Cluster(w.t).AdminURL("postgres"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	exec(w.t, db, "SET jit = off; SET max_parallel_workers_per_gather = 0")
}

// call runs a query, and gives the processor time of its backend in ms, and what it ended with.
func (w *walker) call(sql string, limit int) (ms float64, state string) {
	ctx, cancel := context.WithTimeout(w.t.Context(), walkGiven)
	defer cancel()
	for range 3 { // a timeout that is late hits the next statement
		if _, err := w.db.Exec(ctx, fmt.Sprintf("SET statement_timeout = %d", limit)); err == nil {
			break
		}
	}
	before := onCPU(w.db.PgConn().PID())
	_, err := w.db.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	ms = onCPU(w.db.PgConn().PID()) - before
	var told *pgconn.PgError
	switch {
	case errors.As(err, &told):
		state = told.Code
	case err != nil:
		state, ms = "lost", max(ms, float64(walkGiven.Milliseconds()))
		w.connect() // the backend goes on until the cluster is stopped
	}
	return ms, state
}

func onCPU(pid uint32) (ms float64) {
	var ns float64
	src, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err == nil {
		_, _ = fmt.Sscan(string(src), &ns)
	}
	return ns / 1e6
}

// walk calls a subject with arguments of all shapes, and gives the worst outcome.
func (w *walker) walk(s subject) walked {
	worst := walked{subject: s, verdict: "not called"}
	seen := map[string]bool{}
	for _, shape := range shapes {
		first := s.sql(shape, walkSizes[0])
		if first == "" || seen[first] {
			continue
		}
		seen[first] = true
		if found := w.sizes(s, shape); badness(found) > badness(worst) {
			worst = found
		}
	}
	return worst
}

func (w *walker) sizes(s subject, shape string) walked {
	found := walked{subject: s, shape: shape, verdict: "fixed"}
	for i, n := range walkSizes {
		sql := s.sql(shape, n)
		if i > 0 && sql == s.sql(shape, walkSizes[i-1]) {
			return found
		}
		made := w.making(s, shape, n)
		ms, state := w.call(sql, walkLimit+3*int(made))
		ms = max(ms-made, 0)
		found.ms = append(found.ms, ms)
		switch {
		case state == "lost", ms > walkLate+2*made:
			found.verdict = "goes on"
			return found
		case state == "57014":
			found.verdict = "cancelled"
			continue // one that was only slow takes much longer with the next size
		case state != "" && i == 0:
			found.verdict = "fails " + state
			return found
		case state != "":
			found.ms = found.ms[:i]
			return found
		}
		found.verdict = "ends"
	}
	return found
}

// making is the processor time that it takes to make the arguments, in ms: it is not the subject's.
func (w *walker) making(s subject, shape string, n int) float64 {
	if s.rows {
		return 0
	}
	sql := s.arguments(shape, n)
	if ms, known := w.made[sql]; known {
		return ms
	}
	w.made[sql], _ = w.call(sql, 0)
	return w.made[sql]
}

// badness orders outcomes.
func badness(w walked) float64 {
	rank := map[string]float64{"not called": 0, "fails": 1e3, "fixed": 2e3, "ends": 3e3, "cancelled": 4e3, "goes on": 1e6}[strings.TrimRight(w.verdict, " 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")]
	for i, ms := range w.ms {
		rank += ms / float64(walkSizes[i]) // the earlier the worse
	}
	return rank
}

// remarkable tells whether an outcome is to be known: the subject goes on when it is to end, or takes more
// than in proportion to its arguments.
func (w walked) remarkable() bool { return w.verdict == "goes on" || growth(w.ms) >= 1.5 }

// head says what was called, so that a test can tell when something is to be walked anew.
func head(all []subject) string {
	names := fnv.New64a()
	for _, s := range all {
		_, _ = names.Write([]byte(s.name + "\n"))
	}
	return fmt.Sprintf("# %d called: %x", len(all), names.Sum64())
}

// walkFile holds what the walk on a major release wrote.
func walkFile(major string) string { return "../../testdata/walk-" + major + ".txt" }

func major(t *testing.T, db *pgx.Conn) (major string) {
	t.Helper()
	if err := db.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000 || ''").Scan(&major); err != nil {
		t.Fatal(err)
	}
	return major
}

// TestWalk measures everything of the sets and writes what is remarkable.
func TestWalk(t *testing.T) {
	if !*walk {
		t.Skip("takes minutes: run with -walk")
	}
	w := &walker{t: t, made: map[string]float64{}}
	w.connect()
	defer func() { _ = w.db.Close(context.Background()) }()
	all := subjects(t, w.db)
	verdicts := map[string]int{}
	var lines []string
	for i, s := range all {
		began := time.Now()
		found := w.walk(s)
		verdicts[strings.Fields(found.verdict)[0]]++
		if found.remarkable() {
			lines = append(lines, found.String())
		}
		if took := time.Since(began); took > 5*time.Second || i%200 == 0 {
			t.Logf("%d of %d: %s took %v", i, len(all), found, took)
		}
	}
	lines = slices.Concat([]string{head(all), fmt.Sprintf("# %v", verdicts)}, lines)
	if err := os.WriteFile(walkFile(major(t, w.db)), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Ensure everything of the sets was walked on the releases that were, and that docs/resources.md names
// what Postgres can't cancel.
func TestWalked(t *testing.T) {
	db := connect(t)
	src, err := os.ReadFile(walkFile(major(t, db)))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this release was not walked: 15 and 18 were")
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(src)), "\n")
	if now := head(subjects(t, db)); now != lines[0] {
		t.Errorf("the walk was another: %s, and now %s; do it again: go test . -run '^TestWalk$' -timeout 0 -walk", lines[0], now)
	}
	docs, err := os.ReadFile("../../../docs/resources.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[2:] {
		columns := strings.Split(line, "\t")
		kind, name, _ := strings.Cut(columns[0], " ")
		name, _, _ = strings.Cut(name, "(")
		if name = "`" + strings.Trim(name, `"`) + "`"; columns[1] == "goes on" && kind != "cast" && !strings.Contains(string(docs), name) {
			t.Errorf("docs/resources.md does not name %s", name)
		}
	}
}
