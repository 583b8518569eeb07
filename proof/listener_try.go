package proof

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/proxy"
)

// What runs through the listener is committed: so others see it, and can look at what it
// changed. The rows of the others are held against what they were; those of the server are
// made anew from a copy.

// keep copies the server's rows of every table, to be put back.
func (p *place) keep(ctx context.Context) error {
	var sql strings.Builder
	sql.WriteString("CREATE SCHEMA IF NOT EXISTS kept;")
	for i, t := range statement.Tables() {
		if t.ScopeType != "" {
			fmt.Fprintf(&sql, "DROP TABLE IF EXISTS kept.t%d; CREATE TABLE kept.t%d AS SELECT %s FROM %s AS t WHERE %s;", i, i, strings.Join(columnNames(t), ", "), qualified(t), ownedBy(t, p.server))
		}
	}
	if _, err := p.shared.conn.Exec(ctx, sql.String()).ReadAll(); err != nil {
		return fmt.Errorf("keeping the server's rows: %w", err)
	}
	var err error
	p.kept, err = p.look(ctx, everyTable())
	return err
}

func ownedBy(t *statement.Table, server string) string {
	return "t." + statement.Quote(t.Scope()) + "::text IS NOT DISTINCT FROM '" + server + "'"
}

func everyTable() (all []int) {
	for i, t := range statement.Tables() {
		if t.ScopeType != "" {
			all = append(all, i)
		}
	}
	return all
}

// sides are the digests of a table's rows: the server's own, and the others'.
type sides struct{ own, others string }

// look gives the digests of tables.
func (p *place) look(ctx context.Context, tables []int) (map[int]sides, error) {
	var sql strings.Builder
	for _, i := range tables {
		t := statement.Tables()[i]
		mine := ownedBy(t, p.server)
		fmt.Fprintf(&sql, `SELECT count(*) FILTER (WHERE %[1]s) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)) FILTER (WHERE %[1]s), 0),
			count(*) FILTER (WHERE NOT (%[1]s)) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)) FILTER (WHERE NOT (%[1]s)), 0) FROM %[2]s AS t;`, mine, qualified(t))
	}
	results, err := p.shared.conn.Exec(ctx, sql.String()).ReadAll()
	if err != nil || len(results) != len(tables) {
		return nil, fmt.Errorf("looking at the rows: %w", err)
	}
	found := map[int]sides{}
	for n, i := range tables {
		cells := results[n].Rows[0]
		found[i] = sides{string(cells[0]), string(cells[1])}
	}
	return found, nil
}

// restore makes the server's rows what they were, without triggers: each table for itself.
func (p *place) restore(ctx context.Context, tables []int) error {
	sql := strings.Builder{}
	sql.WriteString("BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL statement_timeout = 0;")
	for _, i := range tables {
		t := statement.Tables()[i]
		columns := strings.Join(columnNames(t), ", ")
		fmt.Fprintf(&sql, "DELETE FROM %[1]s AS t WHERE %[2]s; INSERT INTO %[1]s (%[3]s) SELECT %[3]s FROM kept.t%[4]d;", qualified(t), ownedBy(t, p.server), columns, i)
	}
	sql.WriteString("COMMIT")
	return p.shared.exec(ctx, sql.String())
}

// pathOf chooses the path of a statement. In a Query message several statements are no refusal.
func pathOf(text string, args []policy.Arg, query bool, chance *rand.Rand) Path {
	paths := []Path{Extended}
	single := len(args) == 0 && !strings.Contains(text, ";")
	if single {
		paths = append(paths, Simple)
	}
	if query {
		paths = append(paths, Cursor)
	}
	if query && single {
		paths = append(paths, Copy)
	}
	return paths[chance.IntN(len(paths))]
}

// throughListener runs a statement as a client of the listener's writes it, looks at what it
// did, and undoes it. A query may go through a cursor or COPY.
func (k *worker) throughListener(ctx context.Context, st statement.Statement, tables []int, query bool, chance *rand.Rand) (answer, error) {
	text, args := st.NativeText(k.server)
	k.listener.directory.mode.Store(st.Mode)
	a, err := k.listener.client.run(text, wires(args), pathOf(text, args, query, chance))
	if err != nil {
		return a, err
	}
	if len(tables) > 0 {
		now, err := k.look(ctx, tables)
		if err != nil {
			return a, err
		}
		changed := false
		for _, i := range tables {
			a.own, a.others = append(a.own, now[i].own), append(a.others, now[i].others)
			changed = changed || now[i].own != k.kept[i].own
		}
		if changed {
			err = k.restore(ctx, tables)
		}
		if err != nil {
			return a, err
		}
	}
	a.bytes = strings.ToLower(string(bytes.ReplaceAll(k.listener.client.seen.Bytes(), []byte(text), nil)))
	for _, p := range args {
		if len(p.Text) > 3 {
			a.bytes = strings.ReplaceAll(a.bytes, strings.ToLower(p.Text), "")
		}
	}
	return a, nil
}

// refused sends what the engine refuses: the listener must say the same of it, and nothing
// else.
func (k *worker) refused(ctx context.Context, st statement.Statement, o *outcome, chance *rand.Rand) (err error) {
	text, _ := st.NativeText(k.server)
	if k.listener == nil || o.refused == noStatement || strings.Contains(text, "\x00") {
		return nil
	}
	if o.shared, err = k.throughListener(ctx, st, touched(text), false, chance); err != nil {
		return err
	}
	switch n := needle(o.shared); {
	case n != "" && !strings.Contains(strings.ToLower(text), n): // a refusal quotes the text
		o.fault = Leak
	case o.shared.code != o.refused && !designed(o.refused, text, o.shared):
		o.fault, o.why = Mismatch, fmt.Sprintf("%s; the listener says %s", o.why, o.shared.brief())
	}
	return nil
}

// designed tells what the listener answers otherwise than the engine, which is asked about
// a text and its arguments alone: nothing at all to an empty text, or that it takes none of the
// arguments whose placeholders are in its comment, for the session to what drivers ask of it, and what Postgres says of a statement before its arguments are looked at: of
// its names and types, and of literals that it can't read.
func designed(code refusal, text string, a answer) bool {
	switch code {
	case policy.EmptyQuery:
		return len(a.rows) == 0 && (a.state == "" || a.state == "08P01" && strings.Contains(text, "$1"))
	case policy.FunctionNotAllowed:
		return ofSession.MatchString(text)
	case policy.ForeignServerID, policy.ArgumentCount:
		return a.code == policy.QueryFailed && (strings.HasPrefix(a.state, "42") || a.state == "22P02" || a.state == "22007")
	}
	return false
}

var ofSession = regexp.MustCompile(`(?i)\b(current_user|session_user|current_catalog|current_setting|pg_backend_pid)\b`)

// noStatement stands for commands, which the hand-written texts have some of: they are not
// this proof's, and are not sent.
const noStatement refusal = "command"

// ofDatabase tells the codes with which an error of Postgres' own is told.
func ofDatabase(code string) bool {
	switch policy.Code(code) {
	case policy.QueryFailed, policy.InvalidArgument, proxy.ConstraintViolation, proxy.SerializationFailure, proxy.StatementTimeout:
		return true
	}
	return false
}

// decidedFor is what the engine says to a statement of a client of the listener's.
func (k *worker) decidedFor(st statement.Statement) (r request, code refusal, why string) {
	text, args := st.NativeText(k.server)
	r = request{role: k.role, signed: k.signed, path: gatePath}
	d := k.policies[st.Mode].Decide(text, policy.Postgres)
	if d.Verdict != policy.Allow {
		return r, d.Refusal.Code, d.Refusal.Message
	}
	if d.Approved.Command().Verb != policy.NoCommand {
		return r, noStatement, ""
	}
	code, why = r.bind(d.Approved, k.server, args)
	return r, code, why
}
