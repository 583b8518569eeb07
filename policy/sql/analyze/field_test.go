package analyze

import "testing"

// Ensure what may be the column of a row passes for no call, and calls of everyday stay.
func TestFieldOfRow(t *testing.T) {
	refuses(t, map[string]string{
		"SELECT s.sum FROM (SELECT body AS sum FROM notes) s GROUP BY s.sum HAVING sum(s) LIKE 'a'":                                                                                 "may be the column sum",
		"SELECT 1 FROM (SELECT body AS sum FROM notes) s HAVING sum(coalesce(s, s)) LIKE 'a'":                                                                                       "may be the column sum",
		"SELECT 1 FROM (SELECT body AS every FROM notes) s HAVING every(s.*)":                                                                                                       "may be the column every",
		"SELECT 1 FROM (SELECT s AS k FROM (SELECT body AS sum FROM notes) s) t HAVING sum(t.k) LIKE 'a'":                                                                           "may be the column sum",
		"SELECT 1 FROM (SELECT s AS k FROM (SELECT body AS sum FROM notes) s) t HAVING sum(k) LIKE 'a'":                                                                             "may be the column sum",
		"SELECT 1 FROM (SELECT body AS any_value FROM notes) s HAVING any_value(s) LIKE 'a'":                                                                                        "may be the column any_value", // a function since version 16
		"SELECT 1 FROM (SELECT body AS format FROM notes) s WHERE format(s) LIKE 'a'":                                                                                               "may be the column format",
		"SELECT 1 FROM notes b HAVING body(b) LIKE 'a'":                                                                                                                             "may be the column body",
		"SELECT max(v) FROM notes n, unnest(ARRAY[n]) v":                                                                                                                            "may be the column max",
		"SELECT max(v) FROM notes n, jsonb_populate_record(n, '{}') v":                                                                                                              "may be the column max",
		"SELECT max(v) FROM mine.own_rows('a') v":                                                                                                                                   "may be the column max",
		"WITH w AS (SELECT s AS k FROM (SELECT body AS sum FROM notes) s) SELECT 1 FROM w HAVING sum(k) LIKE 'a'":                                                                   "may be the column sum",
		"SELECT json_agg(s) FROM (SELECT body, count(id) AS count, max(id) AS max FROM notes GROUP BY body) s":                                                                      "ok",
		"SELECT max(s.max), json_agg(s) FROM (SELECT body, max(id) AS max FROM notes GROUP BY body) s":                                                                              "ok",
		"SELECT json_agg(s), length(s.length) FROM (SELECT id AS length FROM notes) s":                                                                                              "ok",
		"SELECT json_agg(s), max(s.max) FROM (SELECT max(id) AS max FROM notes) s":                                                                                                  "ok",
		"SELECT json_agg(s), sum(s.sum) FROM (SELECT sum(length(id)) FROM notes) s":                                                                                                 "ok",
		"SELECT json_agg(s), sum(t.sum) FROM (SELECT sum(length(id)) FROM notes) s, (SELECT * FROM (SELECT lower(id) AS sum FROM notes UNION SELECT id || 'a' FROM notes) u) t":     "ok",
		"SELECT json_agg(s), sum(t.sum) FROM (SELECT body AS sum FROM notes) s, (SELECT * FROM (SELECT lower(id) AS sum FROM notes UNION SELECT mine.own_rows(id) FROM notes) u) t": "may be the column sum",
		"SELECT json_agg(s), sum(s.sum) FROM (SELECT coalesce(n, n) AS sum FROM notes n) s":                                                                                         "may be the column sum",
		"SELECT sum(sum) FROM (SELECT sum(1) FROM notes) s":                                                                                                                         "ok",
		"SELECT count(s) FROM (SELECT count(*) FROM notes) s":                                                                                                                       "ok",
		"SELECT max(v) FROM unnest(ARRAY['a']) v":                                                                                                                                   "ok",
		"SELECT max(v) FROM generate_series(1, 3) v":                                                                                                                                "ok",
		"SELECT max(v) FROM json_array_elements_text('[]') v":                                                                                                                       "ok",
		"SELECT max(v), lower(max(v)) FROM notes n, string_to_table(n.id, ',') v":                                                                                                   "ok",
		"SELECT upper(v) FROM notes n, unnest(string_to_array(n.id, ',')) v":                                                                                                        "ok",
		"SELECT upper(v) FROM notes n, lower(n.id) v":                                                                                                                               "ok",
		"SELECT date(v) FROM generate_series('2024-01-01'::date, now(), '1 day') v":                                                                                                 "ok",
		"SELECT n.body, row_to_json(n), length(n.id) FROM notes n":                                                                                                                  "ok",
	})
}
