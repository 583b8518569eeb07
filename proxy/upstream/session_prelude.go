package upstream

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// setting is one run-time parameter of a session.
type setting struct{ name, value string }

// sessionSettings are what a statement's meaning and the encoding of its values rest on.
// Dates are ISO in UTC, floats in the shortest form that reads back the same, bytea in
// hex; a backslash is a character; NULL in an array is NULL, and = NULL is not IS NULL.
func sessionSettings(cfg Config, path string) []setting {
	return []setting{
		{pathSetting, path},
		{"timezone", "UTC"},
		{"datestyle", "ISO, YMD"},
		{"intervalstyle", "postgres"},
		{"extra_float_digits", "1"},
		{"bytea_output", "hex"},
		{"standard_conforming_strings", "on"},
		{"array_nulls", "on"},
		{"transform_null_equals", "off"},
		{"row_security", "on"},
		{"client_min_messages", "error"},
		{"plan_cache_mode", cfg.planMode()},
		{"jit", "off"},                  // a plan for any value looks dearer than it is, and compiling it may take longer than running it
		{"synchronize_seqscans", "off"}, // else the first row depends on how far others have read the table
		{lockTimeout, strconv.FormatInt(max(cfg.LockTimeout.Milliseconds(), 1), 10)},
	}
}

// lockTimeout is how long a statement waits for each lock. No text is read otherwise for it.
const lockTimeout = "lock_timeout"

// startupSettings are those that a connection starts with. A pooler knows few of them
// and hands a connection on with whatever it has, so there the prelude sets the rest.
func startupSettings(cfg Config, path string) []setting {
	start := []setting{{"client_encoding", "UTF8"}, {"application_name", "tenantgate"}}
	if cfg.NoPrepared {
		return start
	}
	start = append(start, sessionSettings(cfg, path)...)
	return append(start,
		setting{"default_transaction_isolation", "read committed"},
		setting{"default_transaction_read_only", "off"},
		setting{"default_transaction_deferrable", "off"},
		// For what runs without a prelude: reading the catalog, preparing the session.
		setting{"statement_timeout", "15s"},
	)
}

// prelude is the statement that opens every transaction: it makes settings that end with
// the transaction, and gives random() a new seed. That generator belongs to the backend: three of its
// numbers tell its state, and so those that the server before had of it (Postgres 15, seen 2026-11-27).
// The first parameter is the seed, the second the time limit, the third and fourth, where there
// is a wall, name the server and sign for it; the rest are fixed.
type prelude struct {
	sql    string
	walled bool
	fixed  [][]byte

	formats []int // of the parameters, one of each call
}

// binaryFormat is that of a value as Postgres' send and receive functions have it (Bind, "Message Formats" in Postgres' documentation);
// 0 is text.
const binaryFormat = 1

func newPrelude(cfg Config, path string) prelude {
	names := []string{"statement_timeout"}
	p := prelude{walled: cfg.Wall.Key != nil}
	if p.walled {
		names = append(names, wall.Setting, wall.Signature)
	}
	if cfg.NoPrepared {
		for _, s := range sessionSettings(cfg, path) {
			names = append(names, s.name)
			p.fixed = append(p.fixed, []byte(s.value))
		}
	}
	calls := []string{"pg_catalog.setseed($1)"}
	for i, name := range names {
		calls = append(calls, "pg_catalog.set_config('"+name+"', $"+strconv.Itoa(i+2)+", true)")
	}
	p.sql = "SELECT " + strings.Join(calls, ", ")
	p.formats = make([]int, len(calls)) // text
	p.formats[0] = binaryFormat
	return p
}

// bind writes the prelude's parameters for a statement and has it run. Less than a millisecond
// would mean "no limit" to Postgres, so it is rounded up.
func (p *prelude) bind(w *wire, portal, name string, seeds *seeds, limit time.Duration, server string, signature []byte) {
	at := w.bindPortal(portal, name, len(p.formats), p.formats...)
	from := w.out.OpenValue()
	w.out.Buf = seeds.appendNext(w.out.Buf)
	w.out.ShutValue(from)
	from = w.out.OpenValue()
	w.out.Buf = strconv.AppendInt(w.out.Buf, max(limit.Milliseconds(), 1), 10)
	w.out.ShutValue(from)
	if p.walled {
		from = w.out.OpenValue()
		w.out.Buf = append(w.out.Buf, server...)
		w.out.ShutValue(from)
		w.out.Value(signature)
	}
	for _, v := range p.fixed {
		w.out.Value(v)
	}
	w.run(at, portal)
}

// signed is the signature that was made last: mostly the next statement is the same server's.
type signed struct {
	secret, server, signature []byte
}

// by gives the signature of a server by a key, valid until the next call.
func (s *signed) by(key wall.Key, server string) []byte {
	if string(s.server) != server || !bytes.Equal(s.secret, key.Secret) {
		s.secret, s.server = append(s.secret[:0], key.Secret...), append(s.server[:0], server...)
		s.signature = key.AppendSign(s.signature[:0], server)
	}
	return s.signature
}

// shapesSQL fails (22012, division by zero) unless each table $2[i] has the columns $3[i], each written as its length, a
// colon and its name; $1 is the number of tables. It runs between the statement's Bind and its Execute: from its Bind on the
// statement holds its locks, so no ALTER TABLE can slip in between, and its failure keeps the statement from running. (COPY TO
// takes its locks when it runs, and names its columns.) The statement means the columns as they are now. An older snapshot of
// the transaction shows others in pg_attribute; pg_identify_object_as_address gives their names of now, one by one until there
// is none.
const shapesSQL = `SELECT 1 / (pg_catalog.count(*) = $1)::int4
FROM unnest($2::oid[], $3::text[]) AS s(o, columns)
WHERE columns = (WITH RECURSIVE now(n, name) AS (
    SELECT 1, (pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::regclass, s.o, 1)).object_names[3]
    UNION ALL SELECT n + 1, (pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::regclass, s.o, n + 1)).object_names[3]
    FROM now WHERE name IS NOT NULL)
  SELECT pg_catalog.string_agg(pg_catalog.octet_length(name) || ':' || name, ',' ORDER BY n)
  FROM now WHERE NOT pg_catalog.starts_with(name, '........pg.dropped.'))`

// bindShapes writes the check of the tables' shapes and has it run.
func bindShapes(w *wire, name, portal string, shapes []policy.Shape) {
	at := w.bindPortal(portal, name, 3)
	from := w.out.OpenValue()
	w.out.Buf = strconv.AppendInt(w.out.Buf, int64(len(shapes)), 10)
	w.out.ShutValue(from)
	w.array(len(shapes), func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(shapes[i].OID), 10) })
	w.array(len(shapes), func(dst []byte, i int) []byte { return appendElement(dst, shapes[i].Columns) })
	w.run(at, portal)
}

// array writes a parameter that is an array of n elements, in Postgres' text form.
func (w *wire) array(n int, appendElement func(dst []byte, i int) []byte) {
	from := w.out.OpenValue()
	w.out.Byte('{')
	for i := range n {
		if i > 0 {
			w.out.Byte(',')
		}
		w.out.Buf = appendElement(w.out.Buf, i)
	}
	w.out.Byte('}')
	w.out.ShutValue(from)
}

// appendElement writes a table's columns as an element of an array in Postgres' text form.
func appendElement(dst []byte, columns []string) []byte {
	dst = append(dst, '"')
	for i, name := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strconv.AppendInt(dst, int64(len(name)), 10), ':')
		dst = appendEscaped(dst, name)
	}
	return append(dst, '"')
}

// appendEscaped writes what stands between the quotation marks of an array's element.
func appendEscaped(dst []byte, text string) []byte {
	for _, c := range []byte(text) {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}
