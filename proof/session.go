package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/wall"
)

// planner are the settings that a statement's plan depends on, with the values that are
// tried; the first is the default.
var planner = []struct {
	name   string
	values []string
}{
	{"enable_seqscan", []string{"on", "off"}}, {"enable_indexscan", []string{"on", "off"}}, {"enable_bitmapscan", []string{"on", "off"}},
	{"enable_hashjoin", []string{"on", "off"}}, {"enable_mergejoin", []string{"on", "off"}}, {"enable_nestloop", []string{"on", "off"}},
	{"enable_hashagg", []string{"on", "off"}}, {"enable_material", []string{"on", "off"}}, {"enable_memoize", []string{"on", "off"}},
	{"enable_sort", []string{"on", "off"}}, {"join_collapse_limit", []string{"8", "1"}}, {"from_collapse_limit", []string{"8", "1"}},
	{"random_page_cost", []string{"4", "0.1", "1000"}}, {"cpu_tuple_cost", []string{"0.01", "10"}}, {"cpu_operator_cost", []string{"0.0025", "5"}},
	{"plan_cache_mode", []string{"auto", "force_generic_plan", "force_custom_plan"}},
}

// settings are values of planner, in its order.
type settings []string

func defaultSettings() settings {
	s := make(settings, len(planner))
	for i := range planner {
		s[i] = planner[i].values[0]
	}
	return s
}

// statementTime bounds one statement, in milliseconds.
const statementTime = "1000"

const preludeName = "prelude"

// preludeSQL makes settings that end with the transaction.
const preludeSQL = "SELECT set_config(name, value, true) FROM unnest($1::text[], $2::text[]) AS s(name, value)"

// prelude gives the parameters of preludeSQL; nil where nothing is to be set.
func (r request) prelude() [][]byte {
	var names, values []string
	set := func(name, value string) {
		if value != "" {
			names, values = append(names, name), append(values, `"`+value+`"`)
		}
	}
	for i, v := range r.settings {
		if v != planner[i].values[0] {
			set(planner[i].name, v)
		}
	}
	set(wall.Setting, r.signed.server)
	set(wall.Signature, r.signed.signature)
	set("search_path", r.path)
	set("role", r.role)
	if names == nil {
		return nil
	}
	return [][]byte{[]byte("{" + strings.Join(names, ",") + "}"), []byte("{" + strings.Join(values, ",") + "}")}
}

// request is one statement as it is sent.
type request struct {
	sql      string
	params   [][]byte
	types    []uint32 // that are declared for params
	role     string   // "" for the superuser
	signed   signed   // the settings of the third wall; the zero value for none
	path     string   // the search path; "" for a plain driver's
	settings settings
	checks   []int // of what may write: the tables whose rows are looked at before it is rolled back, by their position; nil: it reads

	overridden bool // the engine replaced a foreign id that the caller gave
}

// signed is a server and the signature that was made for it.
type signed struct{ server, signature string }

// answer is what came back.
type answer struct {
	columns []string
	rows    []string
	tag     string
	state   string   // SQLSTATE; "" for success
	message string   // everything that the error says
	own     []string // of each looked-at table: the server's rows
	others  []string // and those of the others
	path    Path     // that a client sent the statement on
	code    refusal  // the listener's, of an error
	bytes   string   // all that the listener sent, in lower case, without the statement's own words
}

// session is a connection to one database, as a superuser.
type session struct {
	conn *pgconn.PgConn
}

// openSession connects. server is whose rows are its own; "" where all are.
func openSession(ctx context.Context, url, server string) (*session, error) {
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database's URL is not one")
	}
	for name, value := range map[string]string{
		"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "postgres", "bytea_output": "hex", "jit": "off",
		"max_parallel_workers_per_gather": "0", "client_min_messages": "error", "search_path": plainPath, "statement_timeout": statementTime,
	} {
		cfg.RuntimeParams[name] = value
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	s := &session{conn}
	if _, err := conn.Prepare(ctx, preludeName, preludeSQL, nil); err != nil {
		return nil, fmt.Errorf("preparing: %w", err)
	}
	for i, t := range statement.Tables() {
		if _, err := conn.Prepare(ctx, checkName(i), checkSQL(t, server), nil); err != nil {
			return nil, fmt.Errorf("preparing the check of %s: %w", t.Name, err)
		}
	}
	return s, nil
}

func checkName(i int) string { return fmt.Sprintf("check%d", i) }

// checkSQL tells of a table: number and digest of the server's own rows; number of the
// others', and of those among them that this transaction wrote.
func checkSQL(t *statement.Table, server string) string {
	mine := "true"
	if server != "" && t.ScopeType != "" {
		mine = "t." + statement.Quote(t.Scope()) + "::text IS NOT DISTINCT FROM '" + server + "'"
	}
	return fmt.Sprintf(`SELECT count(*) FILTER (WHERE %[1]s) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)) FILTER (WHERE %[1]s), 0),
		count(*) FILTER (WHERE NOT (%[1]s)) || ' rows, written ' || count(*) FILTER (WHERE NOT (%[1]s) AND t.xmin = pg_current_xact_id_if_assigned()::xid)
		FROM %[2]s AS t`, mine, qualified(t))
}

func (s *session) close(ctx context.Context) { _ = s.conn.Close(ctx) }

// run sends a statement in one round trip. One that may write runs in a transaction that
// is rolled back once it has been looked at what it changed.
func (s *session) run(ctx context.Context, r request) (answer, error) {
	p := s.conn.StartPipeline(ctx)
	w := walk{prelude: r.prelude() != nil, checks: r.checks != nil}
	if w.checks {
		p.SendQueryParams("BEGIN", nil, nil, nil, nil)
	}
	if w.prelude {
		p.SendQueryPrepared(preludeName, r.prelude(), nil, nil)
	}
	p.SendQueryParams(r.sql, r.params, r.types, nil, nil)
	p.SendPipelineSync()
	if w.checks {
		p.SendQueryParams("RESET ROLE", nil, nil, nil, nil)
		for _, i := range r.checks {
			p.SendQueryPrepared(checkName(i), nil, nil, nil)
		}
		p.SendPipelineSync()
		p.SendQueryParams("ROLLBACK", nil, nil, nil, nil)
		p.SendPipelineSync()
	}
	if err := p.Flush(); err != nil {
		return answer{}, err
	}
	a, err := w.read(p)
	if closing := p.Close(); err == nil {
		err = closing
	}
	return a, err
}

// walk knows which result is of what, of those that run asked for.
type walk struct{ prelude, checks bool }

// statement is the place of the statement's result in the first group.
func (w walk) statement() int {
	at := 0
	if w.checks {
		at++
	}
	if w.prelude {
		at++
	}
	return at
}

// read reads the groups that run sent.
func (w walk) read(p *pgconn.Pipeline) (answer, error) {
	var a answer
	groups := 1
	if w.checks {
		groups = 3
	}
	for group, at := 0, 0; group < groups; {
		res, err := p.GetResults()
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg):
			a.fail(pg, group)
			continue
		case err != nil:
			return a, err
		}
		switch x := res.(type) {
		case *pgconn.PipelineSync:
			group, at = group+1, 0
		case *pgconn.ResultReader:
			switch {
			case group == 0 && at == w.statement():
				err = a.read(x)
			case group == 1 && at > 0:
				err = a.readCheck(x)
			default:
				_, err = x.Close()
			}
			if errors.As(err, &pg) {
				a.fail(pg, group)
			} else if err != nil {
				return a, err
			}
			at++
		}
	}
	return a, nil
}

// fail notes an error of the statement; what follows one in its transaction is no news.
func (a *answer) fail(pg *pgconn.PgError, group int) {
	if group == 1 && pg.Code == cancelled { // a check took too long, so that nothing can be said
		a.state = cancelled
	}
	if group == 0 && a.state == "" {
		a.state = pg.Code
		a.message = strings.Join([]string{pg.Message, pg.Detail, pg.Hint, pg.Where, pg.InternalQuery, pg.SchemaName, pg.TableName, pg.ColumnName, pg.ConstraintName}, "\n")
	}
}

// read takes the statement's result.
func (a *answer) read(r *pgconn.ResultReader) error {
	for _, f := range r.FieldDescriptions() {
		a.columns = append(a.columns, f.Name)
	}
	for r.NextRow() {
		a.rows = append(a.rows, row(r.Values()))
	}
	tag, err := r.Close()
	a.tag = tag.String()
	return err
}

// readCheck takes what a check says of a table.
func (a *answer) readCheck(r *pgconn.ResultReader) error {
	for r.NextRow() {
		a.own = append(a.own, string(r.Values()[0]))
		a.others = append(a.others, string(r.Values()[1]))
	}
	_, err := r.Close()
	return err
}

// row writes the values of a row so that different rows are different texts.
func row(values [][]byte) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(" | ")
		}
		if v == nil {
			b.WriteString("∅")
		} else {
			b.WriteString(strconv.Itoa(len(v)))
			b.WriteByte(':')
			b.Write(v)
		}
	}
	return b.String()
}

func (s *session) exec(ctx context.Context, sql string) error {
	results, err := s.conn.Exec(ctx, sql).ReadAll()
	for _, r := range results {
		if err == nil {
			err = r.Err
		}
	}
	if err != nil {
		return fmt.Errorf("%.60s: %w", sql, err)
	}
	return nil
}

// upkeep runs what the proof itself needs, such as VACUUM and REINDEX. It has as long as the machine takes, unlike a statement of the proof.
func (s *session) upkeep(ctx context.Context, statements ...string) error {
	for _, sql := range slices.Concat([]string{"SET statement_timeout = 0"}, statements, []string{"RESET statement_timeout"}) {
		if err := s.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
