package upstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// Ensure a text that one connection has described is run by another with what it said, named
// and unnamed, in the transaction of the statement.
func TestAnnounced(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, cfg, "CREATE TABLE t (a int, b text[])")
			all := []*statement{
				write("insert", false, "INSERT INTO t VALUES ($1, $2)", num("7"), arr(`["x"]`)),
				write("insert", true, "INSERT INTO t VALUES ($1, $2) RETURNING a", num("8"), arr(`[]`)),
				sel("SELECT count(*), max(a) FROM t WHERE a > $1", num("1")),
			}
			for range 3 {
				for _, st := range all {
					b.must(st)
				}
				b.pool.replace()
			}
			if got := b.must(all[2]); !strings.HasSuffix(got, `[[6,8]]`) || len(b.rec.errors) > 0 {
				t.Errorf("got %s, counted %v", got, b.rec.errors)
			}
			if _, known := b.pool.descriptions.get(all[0].text()); !known {
				t.Error("the description is not kept")
			}
		})
	}
}

// Ensure a description that is not right any more is found out: where the parameters' types
// don't fit, the text is described again, unseen by the caller; where the columns are others,
// nobody is given their values in a wrong form.
func TestWrongDescription(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	add := write("insert", true, "INSERT INTO t VALUES ($1) RETURNING a", num("7"))
	put := func(params, typed uint32) {
		b.pool.replace()
		b.pool.descriptions.drop(add.text())
		b.pool.descriptions.put(add.text(), described{Description: frame.Description{Params: []uint32{params}, Columns: []frame.Column{{Name: "a", OID: typed}}}}, b.pool.descriptions.epoch.Load())
	}
	put(pgtype.BoolOID, pgtype.Int4OID)
	b.must(add)
	if b.rec.class(classStale) != 1 {
		t.Errorf("counted %v", b.rec.errors)
	}
	for _, typed := range []uint32{pgtype.BoolOID, pgtype.TextOID} {
		put(pgtype.Int4OID, typed)
		body, err := b.query(add)
		if e := refusal(t, err, proxy.SerializationFailure, body); !errors.Is(e, proxy.ErrSchemaChanged) || !e.Retryable {
			t.Errorf("got %+v", e)
		}
	}
	b.must(add)
	if n := b.one("SELECT count(*) FROM t"); n != "2" {
		t.Errorf("%s rows, want 2", n)
	}
}

// Ensure a parameter is not read as of the type that its column had before it was altered,
// neither where the text is prepared nor where it is known.
func TestColumnChangesItsType(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	look := func() {
		if _, err := b.pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "t"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, elsewhere := range []bool{false, true} {
		b.exec("TRUNCATE t; ALTER TABLE t ALTER a TYPE int USING a::int")
		look()
		add := write("insert", false, fmt.Sprintf("INSERT INTO t VALUES ($1) /* %v */", elsewhere), str("007"))
		b.must(add)
		b.exec("ALTER TABLE t ALTER a TYPE text")
		look()
		if elsewhere {
			b.pool.replace()
		}
		b.must(add)
		if got := b.one("SELECT string_agg(a, ',' ORDER BY a) FROM t"); got != "007,7" {
			t.Errorf("on another connection %v: %s", elsewhere, got)
		}
	}
}

// Ensure a connection drops what it has prepared of a table that changed, and nothing else.
func TestRenew(t *testing.T) {
	d, s := newDescriptions(), newStatements(10, 1<<20)
	see := func(tables ...catalogTable) {
		d.see(tables, namesRead{})
		s.renew(d)
	}
	see(catalogTable{Name: "t"}, catalogTable{Name: "u"})
	for sql, tables := range map[string][]policy.TableName{"t": {{Name: "t"}}, "u": {{Name: "u"}}, "both": {{Name: "u"}, {Name: "t"}}, "none": {}, "any": nil} {
		s.put(&plan{sql: sql, description: described{tables: tables}})
	}
	see(catalogTable{Name: "t"}, catalogTable{Name: "u", OID: 7})
	for sql, want := range map[string]bool{"t": true, "u": false, "both": false, "none": true, "any": false} {
		if got := s.get(sql) != nil; got != want {
			t.Errorf("%s: kept is %v", sql, got)
		}
	}
	d.see([]catalogTable{{Name: "t"}, {Name: "u", OID: 8}}, namesRead{})
	see(catalogTable{Name: "t", OID: 8}, catalogTable{Name: "u", OID: 8}) // two changes before the connection is used again
	if s.get("t") != nil || s.get("none") == nil {
		t.Error("the change before the last was not looked at, or too much")
	}
	d.see(d.tables, namesRead{path: "x"})
	if s.renew(d); s.order.Len() > 0 {
		t.Error("kept though names may mean something else")
	}
}

// Ensure descriptions are bounded, and those of an epoch that is over are not kept.
func TestDescriptionsAreBounded(t *testing.T) {
	d := newDescriptions()
	text := strings.Repeat("x", 1<<20)
	for i := range 20 {
		d.put(fmt.Sprint(i)+text, described{}, 0)
		if d.size > maxDescribed || d.size < len(d.known)<<20 {
			t.Fatalf("%d bytes in %d texts", d.size, len(d.known))
		}
	}
	wide := described{Description: frame.Description{Columns: make([]frame.Column, 1600)}}
	for i := range 1700 {
		if d.put(fmt.Sprint("wide ", i), wide, 0); d.size > maxDescribed || d.size < len(d.known)*1600*24 {
			t.Fatalf("%d bytes in %d wide texts", d.size, len(d.known))
		}
	}
	d.see([]catalogTable{{Name: "t"}}, namesRead{path: "x"})
	d.put("late", described{}, 0)
	if len(d.known) != 0 || d.size != 0 {
		t.Errorf("%d texts, %d bytes", len(d.known), d.size)
	}
	d.put("now", described{}, 1)
	d.see([]catalogTable{{Name: "t"}}, namesRead{path: "x"})
	d.drop("nothing")
	if _, known := d.get("now"); !known {
		t.Error("forgotten though no table changed")
	}
	d.see([]catalogTable{{Name: "t"}}, namesRead{path: "x", namesakes: []policy.Namesake{{Name: "="}}})
	if _, known := d.get("now"); known {
		t.Error("kept though = may mean another operator now")
	}
	if d.drop("now"); len(d.known) != 0 || d.size != 0 {
		t.Errorf("%d texts, %d bytes", len(d.known), d.size)
	}
}

// Ensure a type that was forgotten is asked for again, wherever the text is known.
func TestForgottenTypes(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TYPE mood AS ENUM ('glad')")
	st := sel("SELECT ARRAY['glad'::mood] AS m, $1::mood AS n", str("glad"))
	for range 3 {
		if got := b.must(st); got != `"columns":["m","n"],"rows":[[["glad"],"glad"]]` {
			t.Errorf("got %s", got)
		}
		b.pool.types = values.NewTypes()
		b.pool.replace()
	}
	if newForm(described{Description: frame.Description{Columns: []frame.Column{{Name: "m", OID: 1 << 30}}}}, values.NewTypes()) != nil {
		t.Error("a form with a type that nobody knows")
	}
}
