package clients_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var alteredFor = flag.Duration("altered-for", 5*time.Second, "how long TestAltered writes")

// TestAltered writes while the tables are altered: columns trade their names and their types, and others come and go. What a
// client was told done is there once, in the columns that it was meant for; what it was told to have failed is not there.
func TestAltered(t *testing.T) {
	url := tenant(t)
	a := &alterations{server: dial(t, url).Config().User, told: map[string]error{}, written: map[[2]string]int{}, done: make(chan struct{})}
	if err := run(t.Context(), gate.admin, "TRUNCATE turned, retyped"); err != nil {
		t.Fatal(err)
	}
	a.rest = a.overREST(t, &gate)
	var writers, alterers sync.WaitGroup
	for name, write := range a.writers() {
		writers.Go(func() { a.client(name, url, write) })
	}
	for pause, texts := range map[time.Duration][]string{
		200 * time.Millisecond:  {"ALTER TABLE turned RENAME left_half TO x; ALTER TABLE turned RENAME right_half TO left_half; ALTER TABLE turned RENAME x TO right_half"},
		300 * time.Millisecond:  {"ALTER TABLE retyped ALTER narrow TYPE real", "ALTER TABLE retyped ALTER narrow TYPE int4"},
		400 * time.Millisecond:  {"ALTER TABLE retyped ALTER wide TYPE double precision", "ALTER TABLE retyped ALTER wide TYPE int8"},
		1500 * time.Millisecond: {"ALTER TABLE retyped ADD guest text DEFAULT 'guest'", "ALTER TABLE retyped DROP guest"},
	} {
		alterers.Go(func() { a.alter(gate.admin, pause, texts) })
	}
	stop := sync.OnceFunc(func() {
		close(a.done)
		writers.Wait()
		alterers.Wait()
	})
	defer stop()
	time.Sleep(*alteredFor)
	eventually(t, patience, func() bool { return a.idle() == "" }, a.idle)
	stop()
	a.compare(t, gate.admin)
}

// alterations is what the writers were told.
type alterations struct {
	server  string
	rest    writing
	done    chan struct{}
	mu      sync.Mutex
	told    map[string]error  // of each mark
	written map[[2]string]int // how often a writer was told that a statement was done
	wrong   []string
	altered int
}

// errUnsettled stands for what a client can't know.
var errUnsettled = errors.New("not known")

// The statements. The values of the first stand for columns by their position.
const (
	turn   = "INSERT INTO turned VALUES ($1, $2, $3, $4)"
	retype = "INSERT INTO retyped (mark, narrow, wide) VALUES ($1, $2, $3) RETURNING *"
)

// valueOf is the number that a mark's row has, which each of the types has.
func valueOf(mark string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(mark))
	return 1 + int(h.Sum32()%30000)
}

func (a *alterations) argsOf(text, mark string) []any {
	if text == turn {
		return []any{a.server, mark, mark + " left", mark + " right"}
	}
	return []any{mark, valueOf(mark), valueOf(mark)}
}

// one writes a row, and looks whether what comes back is described as it is.
func (a *alterations) one(ctx context.Context, q querier, text, mark string, mode ...any) error {
	rows, err := q.Query(ctx, text, append(mode, a.argsOf(text, mark)...)...)
	if err != nil {
		return err
	}
	return a.read(rows, mark)
}

func (a *alterations) read(rows pgx.Rows, mark string) error {
	defer rows.Close()
	for rows.Next() {
		if told, got := len(rows.FieldDescriptions()), len(rows.RawValues()); told != got {
			a.say("%s: %d values are described as %d columns", mark, got, told)
			continue
		}
		values, err := rows.Values()
		if err != nil {
			a.say("%s: %v", mark, err)
			continue
		}
		for i, column := range rows.FieldDescriptions() {
			a.check(mark, column.Name, values[i])
		}
	}
	return rows.Err()
}

// check looks whether a value comes back as it was sent.
func (a *alterations) check(mark, column string, value any) {
	if (column == "narrow" || column == "wide") && fmt.Sprint(value) != fmt.Sprint(valueOf(mark)) {
		a.say("%s: %s is answered as %v, not %d", mark, column, value, valueOf(mark))
	}
}

// writing writes the rows of some marks in one transaction.
type writing func(ctx context.Context, conn *pgx.Conn, text string, marks []string) error

func (a *alterations) writers() map[string]writing {
	writers := map[string]writing{"batch": a.batch, "copy": a.copy, "REST": a.rest}
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "exec": pgx.QueryExecModeExec, "described": pgx.QueryExecModeDescribeExec,
		"cached description": pgx.QueryExecModeCacheDescribe, "cached statement": pgx.QueryExecModeCacheStatement,
	} {
		writers[name] = func(ctx context.Context, conn *pgx.Conn, text string, marks []string) error {
			return a.one(ctx, conn, text, marks[0], mode)
		}
		for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead} {
			writers[name+", "+string(level)] = a.transaction(level, mode)
		}
	}
	return writers
}

// rowsOf is how many rows a writer writes in one transaction.
func rowsOf(name string) int {
	if name == "batch" || name == "copy" || strings.Contains(name, ",") {
		return 3
	}
	return 1
}

// transaction has its snapshot some time before it writes.
func (a *alterations) transaction(level pgx.TxIsoLevel, mode pgx.QueryExecMode) writing {
	return func(ctx context.Context, conn *pgx.Conn, text string, marks []string) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT 1 FROM branches"); err != nil {
				return err
			}
			time.Sleep(time.Duration(valueOf(marks[0])%60) * time.Millisecond)
			for _, mark := range marks {
				if err := a.one(ctx, tx, text, mark, mode); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func (a *alterations) batch(ctx context.Context, conn *pgx.Conn, text string, marks []string) error {
	b := &pgx.Batch{}
	for _, mark := range marks {
		b.Queue(text, a.argsOf(text, mark)...).Query(func(rows pgx.Rows) error { return a.read(rows, mark) })
	}
	return conn.SendBatch(ctx, b).Close()
}

func (a *alterations) copy(ctx context.Context, conn *pgx.Conn, text string, marks []string) error {
	var lines strings.Builder
	into := "COPY turned FROM STDIN"
	for _, mark := range marks {
		if text == turn {
			fmt.Fprintf(&lines, "%s\t%s\t%[2]s left\t%[2]s right\n", a.server, mark)
		} else {
			into = "COPY retyped (mark, narrow, wide) FROM STDIN"
			fmt.Fprintf(&lines, "%s\t%d\t%[2]d\n", mark, valueOf(mark))
		}
	}
	_, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(lines.String()), into)
	return err
}

// client writes until the end.
func (a *alterations) client(name, url string, write writing) {
	var conn *pgx.Conn
	for n := 0; !a.ended(); n++ {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = pgx.Connect(ctx, url); err != nil {
				a.say("%s: %v", name, err)
				cancel()
				return
			}
		}
		text, marks := []string{turn, retype}[n%2], []string{}
		for i := range rowsOf(name) {
			marks = append(marks, fmt.Sprintf("%s %d %d", name, n, i))
		}
		err := write(ctx, conn, text, marks)
		var refused *pgconn.PgError
		switch {
		case err == nil, errors.Is(err, pgx.ErrTxCommitRollback):
		case !errors.As(err, &refused):
			a.say("%s: %v", name, err) // nothing ends connections here
			err = fmt.Errorf("%w: %w", errUnsettled, err)
		case refused.Code == "08006":
			a.say("%s: %v", name, err) // as above
		case refused.Code == "08007":
			err = fmt.Errorf("%w: %w", errUnsettled, err)
		}
		a.mu.Lock()
		if err == nil {
			a.written[[2]string{name, text}]++
		}
		for _, mark := range marks {
			a.told[mark] = err
		}
		a.mu.Unlock()
		cancel()
	}
	if conn != nil {
		_ = conn.Close(context.Background())
	}
}

// idle names a writer that has not written by one of the statements yet; "" for none.
func (a *alterations) idle() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.writers() {
		for _, text := range []string{turn, retype} {
			if a.written[[2]string{name, text}] == 0 {
				return name + " never did " + text
			}
		}
	}
	return ""
}

// alter runs the texts in turn; the last one is run whatever comes. A table takes 1,600 columns in its life, dropped ones too.
func (a *alterations) alter(url string, pause time.Duration, texts []string) {
	for n := 0; n%len(texts) != 0 || !a.ended(); n++ {
		if err := run(context.Background(), url, texts[n%len(texts)]); err != nil {
			a.say("%s: %v", texts[n%len(texts)], err)
			return
		}
		a.mu.Lock()
		a.altered++
		a.mu.Unlock()
		time.Sleep(pause)
	}
}

func (a *alterations) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *alterations) say(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// compare holds the rows against what the writers were told.
func (a *alterations) compare(t *testing.T, url string) {
	t.Helper()
	there := map[string]int{}
	for _, table := range []string{"turned", "retyped"} {
		rows, err := dial(t, url).Query(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			mark := fmt.Sprint(values[1])
			there[mark]++
			want := a.argsOf(turn, mark)
			if table == "retyped" {
				want = append([]any{a.server}, a.argsOf(retype, mark)...)
			}
			if want, got := fmt.Sprint(want), fmt.Sprint(values[:4]); got != want {
				a.say("a row of %s is %s, not %s", table, got, want)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	failed, reasons := 0, map[string]int{}
	for mark, err := range a.told {
		n := there[mark]
		if n > 1 || err == nil && n == 0 || err != nil && n > 0 && !errors.Is(err, errUnsettled) {
			a.say("%s is there %d times, its client was told %v", mark, n, err)
		}
		if err != nil {
			failed++
			reasons[err.Error()[:min(len(err.Error()), 150)]]++
		}
	}
	t.Logf("%d rows written, %d not, by reason %v; %d alterations", len(a.told)-failed, failed, reasons, a.altered)
	if a.altered < 10 {
		t.Errorf("only %d alterations", a.altered)
	}
	if len(a.wrong) > 0 {
		t.Errorf("%d wrong: %s", len(a.wrong), strings.Join(a.wrong[:min(10, len(a.wrong))], "\n"))
	}
}
