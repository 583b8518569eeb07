package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure what is hidden from the planner has the name and the type that it had.
func TestRealNamesOfHidden(t *testing.T) {
	w, _ := onPostgres(t)
	for query, columns := range map[string]string{
		"SELECT * FROM (SELECT (now()) FROM notes) s":                                                                "now:1184",
		"SELECT * FROM (SELECT (now())::date FROM notes) s":                                                          "now:1082",
		"SELECT * FROM (SELECT now(), count(*) FROM notes GROUP BY now()) s":                                         "now:1184,count:20",
		"SELECT * FROM (SELECT ((current_date)), count(*) FROM notes GROUP BY current_date) s":                       "current_date:1082,count:20",
		"SELECT * FROM (SELECT date_trunc('month', now()), id FROM notes GROUP BY date_trunc('month', now()), id) s": "date_trunc:1184,id:23",
		"SELECT * FROM (SELECT (interval '1' day) FROM notes) s":                                                     "interval:1186",
		"WITH s AS (SELECT (current_date), id FROM notes) SELECT s.current_date FROM s":                              "current_date:1082",
		"SELECT now(), count(*) FROM notes GROUP BY now() HAVING now() IS NOT NULL":                                  "now:1184,count:20",
		`SELECT * FROM (SELECT body COLLATE "C" AS z FROM notes UNION SELECT 'TI' COLLATE "C") s`:                    "z:25",
	} {
		w.is(w.pipe(&pgproto3.Parse{Query: query}, &pgproto3.Describe{ObjectType: 'S'}), "parsed params[] columns("+columns+") I")
	}
}
