package clients_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what psql says on the plain target as what is expected")

// TestPsql runs each script of testdata/psql; psql must say what the file beside it holds.
func TestPsql(t *testing.T) {
	need(t, "psql")
	scripts, err := filepath.Glob("testdata/psql/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".sql"), func(t *testing.T) {
			each(t, func(t *testing.T, url string) {
				got, err := command(t, script, "", url, "psql", "-X", "--no-readline", "-A", url)
				if err != nil {
					t.Errorf("psql ended with %v", err)
				}
				wanted := strings.TrimSuffix(script, ".sql") + ".txt"
				if *update {
					if err := os.WriteFile(wanted, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(wanted)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Error(difference(string(want), got))
				}
			})
		})
	}
}

// difference shows the first lines that are not the same.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < min(len(w), len(g)) && w[at] == g[at] {
		at++
	}
	cut := func(lines []string) string { return strings.Join(lines[max(0, at-2):min(len(lines), at+5)], "\n") }
	return "want …\n" + cut(w) + "\ngot …\n" + cut(g)
}

// TestPsqlLarge has psql fetch and copy 20,000 rows.
func TestPsqlLarge(t *testing.T) {
	need(t, "psql")
	each(t, func(t *testing.T, url string) {
		ask := func(args ...string) string {
			out, err := command(t, "", "", url, "psql", append([]string{"-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", url}, args...)...)
			if err != nil {
				t.Errorf("%v: %v: %.300s", args, err, out)
			}
			return out
		}
		ask("-c", "INSERT INTO samples (id, t) SELECT n, 'row ' || n FROM generate_series(1, 20000) AS n")
		rows := ask("-c", "SELECT id, t FROM samples ORDER BY id")
		if n := strings.Count(rows, "\n"); n != 20000 || !strings.HasSuffix(rows, "20000|row 20000\n") {
			t.Errorf("%d lines", n)
		}
		file := filepath.Join(t.TempDir(), "rows")
		ask("-c", `\copy (SELECT id, t FROM samples ORDER BY id) TO '`+file+`'`)
		ask("-c", "DELETE FROM samples")
		ask("-c", `\copy samples (id, t) FROM '`+file+`'`)
		if again := ask("-c", "SELECT id, t FROM samples ORDER BY id"); again != rows {
			t.Errorf("%d bytes instead of %d came back", len(again), len(rows))
		}
	})
}
