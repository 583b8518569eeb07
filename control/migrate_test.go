package control

import (
	"strings"
	"sync"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

// Ensure several processes can migrate an empty database at once, and again afterwards.
func TestMigratingAtOnceAndAgain(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	roles := testRoles(t)
	url := pgtest.Database(t)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if err := MigrateControl(t.Context(), url); err != nil {
				t.Errorf("control: %v", err)
			}
		})
		all.Go(func() {
			if _, err := MigrateBundled(t.Context(), url, roles); err != nil {
				t.Errorf("bundled: %v", err)
			}
		})
	}
	all.Wait()
	for _, table := range []string{"tenantgate.migrations", "public.tenantgate_migrations"} {
		if n := query[int](t, url, "SELECT count(*) - count(DISTINCT version_id) FROM "+table); n != 0 {
			t.Errorf("%s: %d migrations were applied twice", table, n)
		}
	}
	if n := query[int](t, url, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"); n != 0 {
		t.Errorf("%d advisory locks are left", n)
	}
}

// Ensure the owner of the control store needs no more than CREATE on the database, once.
func TestMigratingAsAnOwnerWithFewRights(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	owner := testRole(t)
	url := pgtest.Database(t)
	own := pgtest.As(t, url, owner, "secret")
	if err := MigrateControl(t.Context(), own); err == nil || !strings.Contains(err.Error(), "making the schema tenantgate") {
		t.Fatalf("without CREATE: %v", err)
	}
	db := query[string](t, url, "SELECT current_database()")
	exec(t, url, "GRANT CREATE ON DATABASE "+db+" TO "+owner)
	if err := MigrateControl(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	exec(t, url, "REVOKE CREATE ON DATABASE "+db+" FROM "+owner)
	if err := MigrateControl(t.Context(), own); err != nil {
		t.Fatalf("again, without CREATE: %v", err)
	}
	populate(t, open(t, Config{ControlURL: own}))
}

// Ensure no other role of the database can read the control store.
func TestTheControlStoreIsClosedToOthers(t *testing.T) {
	other := testRole(t)
	url := controlDB(t)
	as := connect(t, pgtest.As(t, url, other, "secret"))
	for _, sql := range []string{"SELECT * FROM tenantgate.tokens", "SELECT tenantgate.announce('all')", "SELECT seq FROM tenantgate.revision"} {
		if _, err := as.Exec(t.Context(), sql); sqlState(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := Open(t.Context(), Config{ControlURL: pgtest.As(t, url, other, "secret")}); err == nil || !strings.Contains(err.Error(), "tenantgate migrate") {
		t.Errorf("opening as the other role: %v", err)
	}
}

func TestOpeningADatabaseThatIsNotMigrated(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	if _, err := Open(t.Context(), Config{ControlURL: pgtest.Database(t)}); err == nil || !strings.Contains(err.Error(), "tenantgate migrate") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.Context(), Config{}); err == nil {
		t.Error("opened without a URL")
	}
	if _, err := Open(t.Context(), Config{ControlURL: "postgres://u:hunter2@127.0.0.1:1/x"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an unreachable store: %v", err)
	}
}

// testRole makes a login role with the password "secret" for one test, which must ask for
// it before it asks for the database: what the role owns there goes first.
func testRole(t *testing.T) string {
	t.Helper()
	name, admin := pgtest.Name("role"), pgtest.Cluster(t).AdminURL("postgres")
	exec(t, admin, "CREATE ROLE "+name+" LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { dropRole(t, admin, name) })
	return name
}

func testRoles(t *testing.T) Roles {
	t.Helper()
	return Roles{Statement: testRole(t), Lookup: testRole(t)}
}
