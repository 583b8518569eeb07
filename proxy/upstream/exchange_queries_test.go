package upstream

import "testing"

func TestQueriesOnly(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": true, "\n\t/* a /* b */ DO */ -- x\r select 1": true, "(VALUES (1)) UNION SELECT 2": true, "Table t": true, "wItH x AS (SELECT 1) DELETE FROM t": true,
		"INSERT INTO t VALUES (1)": true, "UPDATE t SET a = 1": true, "SELECT(1)": true,
		"DO 'x'": false, "PREPARE a AS SELECT 1": false, "deallocate all": false, "EXECUTE a": false, "SET a = 1": false, "LISTEN a": false, "COPY t TO STDOUT": false,
		"/* SELECT */ DO ''": false, "/* /* */ SELECT */ DO ''": false, "-- SELECT": false, "-- x\nDO ''": false, "/* SELECT 1": false, "": false, "selects": false, "SELECTé": false, "select_1": false, "İNSERT INTO t": false, "WİTH x": false, "ſELECT 1": false, "'SELECT'": false,
	} {
		if isQuery(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Ensure a server can't put a statement of its own in the place of what the next one runs.
func TestPreludeIsKept(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 1}, direct)
	w.sees("b", 2)
	const steal = `'PREPARE tg_prelude(text, text) AS SELECT set_config(''my.stolen'', $2, false)'`
	for _, text := range []string{"DEALLOCATE tg_prelude", "DEALLOCATE ALL", "DO $d$ BEGIN EXECUTE 'DEALLOCATE tg_prelude'; EXECUTE " + steal + "; END $d$"} {
		if _, err := w.query(as("a", sel(text))); err == nil {
			t.Errorf("%s ran", text)
		}
	}
	w.sees("b", 2)
	if got := w.must(as("a", sel("SELECT coalesce(current_setting('my.stolen', true), 'none')"))); got != `"columns":["coalesce"],"rows":[["none"]]` {
		t.Error(got)
	}
}
