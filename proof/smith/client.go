package smith

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// answer is what came back for a statement.
type answer struct {
	state   string // SQLSTATE; "" for success
	code    string // the interface's, that the gate tells in DETAIL
	message string
	tag     string
	columns string   // their names and types
	rows    []string // sorted: few of the statements ask for an order
}

func (a answer) equal(b answer) bool {
	return a.state == b.state && a.tag == b.tag && a.columns == b.columns && slices.Equal(a.rows, b.rows)
}

// client is a connection whose every byte is looked at.
type client struct {
	conn *pgconn.PgConn
	seen *watched
}

// open connects. A needle is in lower case.
func open(ctx context.Context, url string, needles []string) (*client, error) {
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL is not one")
	}
	for name, value := range map[string]string{"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "postgres", "statement_timeout": "2000"} {
		cfg.RuntimeParams[name] = value
	}
	c := &client{seen: &watched{needles: needles}}
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c.seen.Conn = conn
		return c.seen, nil
	}
	c.conn, err = pgconn.ConnectConfig(ctx, cfg)
	return c, err
}

// watched looks for needles in what is read, also where one comes in two parts.
type watched struct {
	net.Conn
	needles []string
	tail    []byte
	found   string // the first that was found since it was last taken
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	text := bytes.ToLower(append(w.tail, p[:n]...))
	for _, needle := range w.needles {
		if w.found == "" && bytes.Contains(text, []byte(needle)) {
			w.found = needle
		}
	}
	w.tail = append(w.tail[:0], text[max(0, len(text)-64):]...)
	return n, err
}

// take gives what was found and forgets it.
func (w *watched) take() string {
	found := w.found
	w.found, w.tail = "", w.tail[:0]
	return found
}

// run sends a statement in the simple protocol, in a transaction that is rolled back. An error
// is one of the connection.
func (c *client) run(ctx context.Context, statement string) (answer, error) {
	var a answer
	for i, text := range []string{"BEGIN", statement, "ROLLBACK", "SELECT 1"} {
		got, err := c.ask(ctx, text)
		if i != 1 && got.state == cancelled { // meant for the statement, and late
			got, err = c.ask(ctx, text)
		}
		if err != nil {
			return a, err
		}
		if i == 1 {
			a = got
		} else if err := failed(text, got); err != nil {
			return a, err
		}
	}
	return a, nil
}

// failed is the error of a command that must not fail; nil where it did not.
func failed(command string, a answer) error {
	if a.state == "" {
		return nil
	}
	return fmt.Errorf("%s failed: %s %s", command, a.state, a.message)
}

func (c *client) ask(ctx context.Context, text string) (a answer, err error) {
	results := c.conn.Exec(ctx, text)
	for results.NextResult() {
		r := results.ResultReader()
		a.columns = columns(r.FieldDescriptions())
		for r.NextRow() {
			a.rows = append(a.rows, row(r.Values()))
		}
		tag, _ := r.Close() // its error is the results' too
		a.tag = tag.String()
	}
	err = results.Close()
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Severity != "FATAL" {
		a = answer{state: pg.Code, code: code(pg.Detail), message: strings.Join([]string{pg.Message, pg.Detail, pg.Hint}, "; ")}
		err = nil
	}
	slices.Sort(a.rows)
	return a, err
}

// columns writes names and types.
func columns(fields []pgconn.FieldDescription) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%q %d %d, ", f.Name, f.DataTypeOID, f.TypeModifier)
	}
	return b.String()
}

// code is what a DETAIL says, where it is one of the interface's codes and not Postgres' prose.
func code(detail string) string {
	if strings.ContainsRune(detail, ' ') {
		return ""
	}
	return detail
}

// row writes values so that different rows are different texts.
func row(values [][]byte) string {
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteString("∅ ")
			continue
		}
		b.WriteString(strconv.Itoa(len(v)) + ":" + string(v) + " ")
	}
	return b.String()
}
