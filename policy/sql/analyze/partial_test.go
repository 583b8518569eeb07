package analyze

import "testing"

// Ensure no column is taken for another where a * stands for columns that are not known: they may stand before it.
func TestPartial(t *testing.T) {
	refuses(t, map[string]string{
		"SELECT s.b FROM (SELECT v.*, body FROM mine.own_rows('a') v, notes) s (a, b)":                                                            "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM mine.own_rows('a') v, notes) s (a, b)":                                                                    "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM mine.own_rows('a') v (x), notes) s (a, b)":                                                                "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM (SELECT v.*, body FROM mine.own_rows('a') v, notes) t) s (a, b)":                                          "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM notes JOIN mine.own_rows('a') v ON true) s (a, b)":                                                        "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM ROWS FROM (lower('a'), lower('b')) v, notes) s (a, b)":                                                    "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM coalesce(mine.own_rows('a')) v, notes) s (a, b)":                                                          "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM notes n, coalesce(n) v) s (a, b)":                                                                         "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM unnest(to_tsvector('a')) v, notes) s (a, b)":                                                              "can't be renamed",
		"SELECT s.b FROM (SELECT * FROM notes n, unnest(ARRAY[n]) v) s (a, b)":                                                                    "can't be renamed",
		"WITH s (a, b) AS (SELECT v.*, body FROM mine.own_rows('a') v, notes) SELECT b FROM s":                                                    "can't be renamed",
		"WITH w AS (SELECT v.*, body FROM mine.own_rows('a') v, notes) SELECT s.b FROM w s (a, b)":                                                "can't be renamed",
		"WITH s (a, b) AS (DELETE FROM notes USING mine.own_rows('a') v RETURNING v.*, body) SELECT b FROM s":                                     "can't be renamed",
		"WITH RECURSIVE r AS (SELECT v.*, 1 AS n FROM mine.own_rows('x') v UNION ALL SELECT v.*, n FROM r, mine.own_rows('x') v) SELECT n FROM r": "are not known",
		"SELECT s.y FROM notes n, LATERAL (VALUES (n.*, 'a')) s (x, y)":                                                                           "a * in VALUES",
		"SELECT 1 FROM notes JOIN (SELECT id FROM notes UNION ALL SELECT * FROM mine.own_rows('b') w) s USING (id)":                               "differ in collation",
		"SELECT 1 FROM notes JOIN (SELECT * FROM mine.own_rows('b') w, notes UNION ALL SELECT id, body FROM notes) s USING (id)":                  "",
		"SELECT * FROM mine.own_rows('a') v UNION ALL SELECT * FROM mine.own_rows('b') w":                                                         "ok",
		"SELECT s.body FROM (SELECT v.*, body FROM mine.own_rows('a') v, notes) s WHERE s.body = 'a'":                                             "ok",
		"SELECT s.body FROM (SELECT body FROM notes UNION ALL SELECT * FROM mine.own_rows('b') w) s WHERE s.body = 'a'":                           "ok",
		"SELECT s.b FROM (SELECT v.*, body FROM lower('a') v, notes) s (a, b)":                                                                    "ok",
		"SELECT s.a FROM (SELECT * FROM generate_series(1, 2) AS g) s (a)":                                                                        "ok",
		"SELECT s.k FROM (SELECT n.id, j.* FROM notes n, jsonb_each_text('{}') j) s (id, k, v)":                                                   "ok",
		"SELECT s.k FROM (SELECT j.* FROM json_to_recordset('[]') AS j (x int)) s (k)":                                                            "ok",
		"SELECT s.a FROM (SELECT count(*), max(id) FROM notes) s (a, b)":                                                                          "ok",
		"SELECT s.a FROM (SELECT v FROM now() v) s (a)":                                                                                           "ok",
	})
}

// Ensure a bare name passes for no column that stands further out than one which it may mean.
func TestUnknownNames(t *testing.T) {
	refuses(t, map[string]string{
		"SELECT 1 FROM notes x, LATERAL (SELECT tenant FROM jsonb_populate_recordset(x, '[]') v) s":                                           "tenant may be a column of v",
		"SELECT 1 FROM notes x, LATERAL (SELECT x.tenant FROM jsonb_populate_recordset(x, '[]') v) s":                                         "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM mine.own_rows('a') v WHERE body = 'a')":                                              "body may be a column of v",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM mine.own_rows('a') v WHERE notes.body = 'a')":                                        "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM (SELECT * FROM mine.own_rows('a') w) v WHERE body = 'a')":                            "body may be a column of v",
		"SELECT 1 FROM notes n WHERE EXISTS (SELECT n FROM mine.own_rows('a') v)":                                                             "n may be a column of v",
		"SELECT 1 FROM (SELECT 1 AS ordinality) t, LATERAL (SELECT ordinality FROM mine.own_rows('x') WITH ORDINALITY AS g (a, o)) s":         "ordinality may be a column of g",
		"SELECT 1 FROM (SELECT 1 AS ordinality) t, LATERAL (SELECT ordinality FROM mine.own_rows('x') WITH ORDINALITY) s":                     "ordinality may be a column of own_rows",
		"SELECT lower(body) AS c FROM notes, mine.own_rows('a') v GROUP BY c":                                                                 "c may be a column of v",
		"SELECT v.* FROM notes, mine.own_rows('a') v ORDER BY body":                                                                           "body may be a column",
		"SELECT DISTINCT ON (body) v.* FROM notes, mine.own_rows('a') v":                                                                      "body may be a column",
		"SELECT DISTINCT ON (c) lower(body) AS c FROM notes, mine.own_rows('a') v":                                                            "ok",
		"SELECT n FROM notes n, mine.own_rows('a') v":                                                                                         "n may be a column of v",
		"SELECT n.* FROM notes n, mine.own_rows('a') v":                                                                                       "ok",
		"SELECT v FROM notes n, mine.own_rows('a') v":                                                                                         "ok",
		"SELECT 1 FROM mine.own_rows('a') v, LATERAL (SELECT n FROM notes n) s":                                                               "n may be a column of v",
		"SELECT 1 FROM (SELECT coalesce(mine.own_rows(id)) AS c FROM notes) s WHERE EXISTS (SELECT 1 FROM unnest(s.c::text[]) v WHERE v = c)": "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM pg_catalog.ts_parse('default', 'a') v WHERE token = body)":                           "token",
		"SELECT v.*, id AS c FROM notes, mine.own_rows('a') v ORDER BY c, notes.body":                                                         "ok",
		"SELECT ordinality, a FROM lower('x') WITH ORDINALITY AS g (a)":                                                                       "ok",
		"SELECT ordinality FROM lower('x') WITH ORDINALITY AS g (a, o)":                                                                       "does not exist",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM unnest(ARRAY[id, 'a']) v WHERE v = body)":                                            "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM unnest($1::text[]) v WHERE v = body)":                                                "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM unnest(string_to_array(id, ',') || 'a') WITH ORDINALITY v WHERE v = body)":           "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM regexp_split_to_table(id, ',') v WHERE v = body)":                                    "ok",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT 1 FROM upper(id) WHERE upper = body)":                                                       "ok",
	})
}
