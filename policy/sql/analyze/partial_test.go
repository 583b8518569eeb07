package analyze

import "testing"

// Ensure no column is taken for another where a * stands for columns that are not known: they may stand before it.
func TestPartial(t *testing.T) {
	refuses(t, map[string]string{
		"SELECT s.b FROM (SELECT v.*, body FROM lower('a') v, notes) s (a, b)":                                                                                            "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM lower('a') v, notes) s (a, b)":                                                                                                    "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM coalesce('a') v (x), notes) s (a, b)":                                                                                             "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM (SELECT v.*, body FROM lower('a') v, notes) t) s (a, b)":                                                                          "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM notes JOIN lower('a') v ON true) s (a, b)":                                                                                        "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM ROWS FROM (lower('a'), lower('b')) v, notes) s (a, b)":                                                                            "can't be renamed",
		"WITH s (a, b) AS (SELECT v.*, body FROM lower('a') v, notes) SELECT b FROM s":                                                                                    "can't be renamed",
		"WITH w AS (SELECT v.*, body FROM lower('a') v, notes) SELECT s.b FROM w s (a, b)":                                                                                "can't be renamed",
		"WITH s (a, b) AS (DELETE FROM notes USING lower('a') v RETURNING v.*, body) SELECT b FROM s":                                                                     "can't be renamed",
		"WITH RECURSIVE r AS (SELECT v.*, 1 AS n FROM lower('x') v UNION ALL SELECT v.*, n FROM r, lower('x') v) SELECT n FROM r":                                         "are not known",
		"SELECT 1 FROM notes m RIGHT JOIN (SELECT s.tenant FROM notes x, LATERAL (SELECT tenant FROM jsonb_populate_recordset(x, '[]') v) s OFFSET 0) c USING (tenant)":   "differ in collation",
		"SELECT 1 FROM notes m RIGHT JOIN (SELECT s.tenant FROM notes x, LATERAL (SELECT x.tenant FROM jsonb_populate_recordset(x, '[]') v) s OFFSET 0) c USING (tenant)": "ok",
		"SELECT s.y FROM notes n, LATERAL (VALUES (n.*, 'a')) s (x, y)":                                                                                                   "a * in VALUES",
		"SELECT 1 FROM notes JOIN (SELECT id FROM notes UNION ALL SELECT * FROM lower('b') w) s USING (id)":                                                               "differ in collation",
		"SELECT 1 FROM notes JOIN (SELECT * FROM lower('b') w, notes UNION ALL SELECT id, body FROM notes) s USING (id)":                                                  "",
		"SELECT * FROM lower('a') v UNION ALL SELECT * FROM upper('b') w":                                                                                                 "ok",
		"SELECT s.body FROM (SELECT v.*, body FROM lower('a') v, notes) s WHERE s.body = 'a'":                                                                             "ok",
		"SELECT s.body FROM (SELECT body FROM notes UNION ALL SELECT * FROM lower('b') w) s WHERE s.body = 'a'":                                                           "ok",
		"SELECT s.a FROM (SELECT * FROM generate_series(1, 2) AS g) s (a)":                                                                                                "ok",
		"SELECT s.k FROM (SELECT n.id, j.* FROM notes n, jsonb_each_text('{}') j) s (id, k, v)":                                                                           "ok",
		"SELECT s.k FROM (SELECT j.* FROM json_to_recordset('[]') AS j (x int)) s (k)":                                                                                    "ok",
		"SELECT s.a FROM (SELECT count(*), max(id) FROM notes) s (a, b)":                                                                                                  "ok",
		"SELECT s.a FROM (SELECT v FROM now() v) s (a)":                                                                                                                   "ok",
	})
}
