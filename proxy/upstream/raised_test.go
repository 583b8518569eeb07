package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a statement that has begun does not run again where its error, a trigger's, looks like that of a prepared statement
// which is gone. A sequence counts the runs, since nothing else of them stays.
func TestErrorsOfTriggersDoNotRepeat(t *testing.T) {
	l := link(t, Config{})
	l.exec(`CREATE SEQUENCE runs; GRANT USAGE ON SEQUENCE runs TO PUBLIC;
		CREATE FUNCTION raises() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('runs'); RAISE SQLSTATE '26000'; END $$;
		CREATE TRIGGER raises BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION raises()`)
	const text = "INSERT INTO notes (id) VALUES (7)"
	for name, run := range map[string]func() error{
		"a REST statement": func() error {
			_, err := l.bench.query(write(policy.Insert, false, "INSERT INTO notes (server_id, id) VALUES ('mine', 7)"))
			return err
		},
		"a Query message": func() error {
			_, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple(text)}, Commit: true})
			return err
		},
		"a prepared statement": func() error {
			a := l.approve(text)
			p := &proxy.Prepared{Approved: a}
			_, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{{Verb: proxy.Bind, Prepared: p, Bound: l.bound(a)}, {Verb: proxy.Execute, Approved: a}}, Commit: true})
			return err
		},
	} {
		l.exec("ALTER SEQUENCE runs RESTART")
		err := run()
		if n := l.one("SELECT last_value FROM runs WHERE is_called"); err == nil || n != "1" {
			t.Errorf("%s: run %s times, %v", name, n, err)
		}
	}
}
