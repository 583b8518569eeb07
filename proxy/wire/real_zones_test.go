package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// backendOf gives the process of the pool's one connection, once there is one; 0 where that
// was ended behind the statement that asked for it.
func backendOf(t *testing.T, w *sitting, admin *pgx.Conn) (pid int) {
	t.Helper()
	for range 20 { // on a busy machine a connection may not come in time
		if strings.HasSuffix(w.query("SELECT 1"), "<SELECT 1> I") {
			break
		}
	}
	if err := admin.QueryRow(t.Context(), "SELECT pid FROM pg_catalog.pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()").Scan(&pid); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return pid
}

// Ensure a backend which may keep many time zones that somebody made up is not used for long,
// and one that serves what applications write is.
func TestRealZones(t *testing.T) {
	for name, c := range map[string]struct {
		run   func(w *sitting, i int)
		times int
		ends  bool
	}{
		"rows make zones": {func(w *sitting, _ int) {
			w.query("SELECT max(now() AT TIME ZONE ('A-' || i / 3600 || ':' || i / 60 % 60 || ':' || i % 60)) FROM generate_series(1, 20000) AS i")
		}, 1, true},
		"texts are cast": {func(w *sitting, _ int) {
			w.query("SELECT max(('2024-01-01 B-' || i / 3600 || ':' || i / 60 % 60 || ':' || i % 60)::timestamptz) FROM generate_series(1, 20000) AS i")
		}, 1, true},
		"values are an array": {func(w *sitting, _ int) { w.pipe(step("SELECT cardinality($1::timestamptz[])", manyZones(20000))...) }, 1, true},
		"constants": {func(w *sitting, i int) {
			w.query(fmt.Sprintf("SELECT '2024-01-01 C-3:%d:%d'::timestamptz", i/60, i%60))
		}, 4000, true},
		"settings": {func(w *sitting, i int) { w.query(fmt.Sprintf("SET TimeZone = 'D-3:%d:%d'", i/60, i%60)) }, 4000, true},
		"zones as ever": {func(w *sitting, _ int) {
			w.query("SELECT at AT TIME ZONE 'Europe/Berlin', at::date, '2024-01-01T12:00:00Z'::timestamptz, body = 'x 1 a1' FROM notes")
			w.pipe(step("SELECT count(*) FROM notes WHERE at > $1 AND body <> $2", "2024-01-01 12:00:00.123+02", "20 00002024-aaaa-0001")...)
		}, 3000, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, admin := twoOnPostgres(t, 1)
			before, begun := backendOf(t, w, admin), time.Now()
			for i := 0; i < c.times && time.Since(begun) < 2*time.Second; i++ {
				c.run(w, i)
			}
			if after := backendOf(t, w, admin); (after != before) != c.ends {
				t.Errorf("another backend: %t", after != before)
			}
		})
	}
}

func manyZones(n int) string {
	list := []byte{'{'}
	for i := range n {
		list = fmt.Appendf(list, `"2024-01-01 E-%d:%d:%d",`, i/3600, i/60%60, i%60)
	}
	list[len(list)-1] = '}'
	return string(list)
}
