package tree

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
)

// TestReservedName gives the word of a text that is a reserved word and a name; "" for none.
func TestReservedName(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM order":                                                "order",
		"SELECT * FROM ORDER o WHERE id = 1":                                 "ORDER",
		"SELECT * FROM public.files f, group g":                              "group",
		"SELECT id, desc FROM t":                                             "desc",
		"SELECT id, end FROM t":                                              "end",
		"SELECT id FROM t WHERE order = 1 AND limit < 2":                     "order",
		"SELECT id FROM t ORDER BY group":                                    "group",
		"INSERT INTO t (id, desc, order, limit) VALUES (1)":                  "desc",
		"INSERT INTO t (id, desc, order, limit, group) VALUES (1)":           "", // too many
		"INSERT INTO t (id, left) VALUES (1)":                                "left",
		"UPDATE user SET name = 'a'":                                         "user",
		"UPDATE t SET order = 1, group = 2":                                  "order",
		"DELETE FROM table WHERE id = 1":                                     "table",
		"WITH order AS (SELECT 1) SELECT 1":                                  "order",
		"COPY order TO STDOUT":                                               "order",
		"DECLARE c CURSOR FOR SELECT * FROM order":                           "order",
		"SELECT id, FROM t":                                                  "", // a trailing comma
		"SELECT id, FROM t WHERE (a)":                                        "",
		"SELECT id + FROM t":                                                 "",
		"SELECT id FROM t, WHERE (a)":                                        "",
		"SELECT id FROM WHERE id = 1":                                        "", // a table is missing
		"SELECT id FROM t WHERE AND a = 1":                                   "",
		"SELECT id FROM t WHERE a = AND b = 1":                               "",
		"SELECT id FROM t WHERE a = ORDER BY b":                              "",
		"SELECT id FROM t ORDER BY LIMIT 5":                                  "",
		"SELECT id FROM t LIMIT 5 WHERE a = 1":                               "", // clauses in another order
		"SELECT id FROM t GROUP BY a, ORDER BY b":                            "",
		"SELECT id FROM t JOIN ON (a = b)":                                   "",
		"SELECT id FROM t JOIN u USING WHERE":                                "",
		"SELECT CASE WHEN a THEN END FROM t":                                 "",
		"SELECT a FROM b c d":                                                "", // no reserved word
		"SELECT a FROM":                                                      "",
		"SELECT a FROM t WHERE":                                              "",
		"SELECT 'order' 'a' FROM t":                                          "",
		`SELECT a FROM b "order" "order"`:                                    "",
		"SELECT * FROM order WHERE )":                                        "", // another error stays
		"SELECT id FROM t WHERE a = 1 AND IN 'a'":                            "",
		"SELECT id FROM t WHERE a IN (1) OR IN (2)":                          "",
		"SELECT id FROM t GROUP BY a, HAVING (b)":                            "",
		"SELECT id FROM t WHERE FROM $1":                                     "",
		"INSERT INTO order (id) VALUES (1)":                                  "order",
		"SELECT desc(1)":                                                     "desc",
		"SELECT desc (a), b FROM t":                                          "desc",
		"UPDATE t SET WHERE id = 1":                                          "",
		"INSERT INTO t (a, b) VALUES (1, ) SELECT":                           "",
		"SELECT a FROM order UNION SELECT b FROM (SELECT group FROM u) AS v": "",
	} {
		tr, fault := lex.Native(text, lex.Guard{})
		if fault != nil {
			t.Fatal(fault)
		}
		_, fault = Parse(text)
		if fault == nil {
			t.Errorf("%s parses", text)
			continue
		}
		if got := ReservedName(tr, fault.Offset); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
