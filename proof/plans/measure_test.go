package plans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A statement is executed some times on each side, or until it had its share of time. What takes
// longer than a limit before is not compared; the limit after is more than twice as long.
const (
	share       = 250 * time.Millisecond
	limitBefore = time.Second
	limitAfter  = 2500 * time.Millisecond
)

// pair is one server's sessions on both sides.
type pair struct{ before, after *session }

// session is a connection with the statement whose turn it is.
type session struct {
	side
	server string
	conn   *pgconn.PgConn
	writes bool
	params [][]byte
}

func (w *world) pair(t *testing.T, server string) pair {
	t.Helper()
	return pair{
		&session{side: w.before, server: server, conn: w.connect(t, w.before, server)},
		&session{side: w.after, server: server, conn: w.connect(t, w.after, server)},
	}
}

// measure runs a statement on both sides in turn. The first turn prepares and warms up; it counts
// only where it took all the time there is.
func (p pair) measure(t *testing.T, st statement) (r result) {
	t.Helper()
	sides := []*session{p.before, p.after}
	for _, s := range sides {
		if err := s.prepare(t, st); err != nil {
			return result{failed: err.Error()}
		}
	}
	var took [2][]time.Duration
	for turn, start := 0, time.Now(); turn <= *turns && (turn == 0 || time.Since(start) < share); turn++ {
		var counts [2]int64
		for i, s := range sides {
			var d time.Duration
			var err error
			if counts[i], d, err = s.run(t.Context()); err != nil {
				return unfinished(err, i == 1, took[0])
			}
			if turn == 1 {
				took[i] = took[i][:0]
			}
			took[i] = append(took[i], d)
		}
		if counts[0] != counts[1] {
			t.Errorf("%s: %d rows before, %d after", st.Name, counts[0], counts[1])
		}
	}
	return result{before: median(took[0]), after: median(took[1])}
}

// best measures once more, up to twice, what seems slower: on a busy machine it may be by chance.
func (p pair) best(t *testing.T, st statement) result {
	t.Helper()
	r := p.measure(t, st)
	for try := 0; try < 2 && r.slower(); try++ {
		if again := p.measure(t, st); again.ratio() < r.ratio() {
			r = again
		}
	}
	return r
}

// unfinished is the result of a statement that failed on one side. One that reached its limit after, and not
// before, took at least so long.
func unfinished(err error, after bool, before []time.Duration) result {
	var pg *pgconn.PgError
	switch ended := errors.As(err, &pg) && pg.Code == "57014"; {
	case ended && after:
		return result{before: median(before), after: limitAfter}
	case ended:
		return result{failed: tooLong}
	}
	return result{failed: err.Error()}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// name is that of the one prepared statement of a session.
const name = "st"

// prepare decides on a statement and has Postgres prepare it.
func (s *session) prepare(t *testing.T, st statement) error {
	t.Helper()
	if err := s.exec(t.Context(), "DEALLOCATE ALL"); err != nil {
		return err
	}
	bound := st.bind(t, s.policies[st.policy], s.server)
	desc, err := s.conn.Prepare(t.Context(), name, bound.SQL(), bound.Approved().Declared())
	if err != nil {
		return err //nolint:wrapcheck // it says it all
	}
	s.writes, s.params = bound.MayWrite(), nil
	for i, p := range bound.Params() {
		json := desc.ParamOIDs[i] == pgtype.JSONOID || desc.ParamOIDs[i] == pgtype.JSONBOID
		s.params = append(s.params, wire(p.Value, json))
	}
	return nil
}

func (s *session) exec(ctx context.Context, sql string) error {
	_, err := s.conn.Exec(ctx, sql).ReadAll()
	return err //nolint:wrapcheck // it says it all
}

// run executes the statement once, and takes back what it wrote.
func (s *session) run(ctx context.Context) (rows int64, took time.Duration, err error) {
	err = s.undone(ctx, func() error {
		start := time.Now()
		res := s.conn.ExecPrepared(ctx, name, s.params, nil, nil)
		for res.NextRow() {
			rows++
		}
		tag, err := res.Close()
		took, rows = time.Since(start), max(rows, tag.RowsAffected())
		return err //nolint:wrapcheck // it says it all
	})
	return rows, took, err
}

func (s *session) undone(ctx context.Context, f func() error) error {
	if !s.writes {
		return f()
	}
	return errors.Join(s.exec(ctx, "BEGIN"), f(), s.exec(ctx, "ROLLBACK"))
}

// plan shows what the last executions ran, with the times of each part.
func (s *session) plan(t *testing.T) (plan string) {
	t.Helper()
	var values []string
	for _, p := range s.params {
		value := "NULL"
		if p != nil {
			value = "'" + strings.ReplaceAll(string(p), "'", "''") + "'"
		}
		values = append(values, value)
	}
	sql := "EXPLAIN (ANALYZE) EXECUTE " + name
	if values != nil {
		sql += "(" + strings.Join(values, ", ") + ")"
	}
	err := s.undone(t.Context(), func() error {
		results, err := s.conn.Exec(t.Context(), sql).ReadAll()
		for _, r := range results {
			for _, row := range r.Rows {
				plan += "    " + string(row[0]) + "\n"
			}
		}
		return err //nolint:wrapcheck // it is shown
	})
	if err != nil {
		return fmt.Sprint(sql, ": ", err)
	}
	return plan
}
