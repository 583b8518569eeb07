package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/wall"
)

// Ensure a database without a fault has no finding, and that the wall of the tests is one.
func TestSound(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	r := c.examine(t, url)
	if len(r.Findings) > 0 || !r.Stands() || !r.Sound() || len(r.Walled) != 2 || len(r.Unseen) > 0 {
		t.Errorf("%s\n%+v", list(r.Findings), r)
	}
	c.exec(t, url, `INSERT INTO orders VALUES ('1', 'srv_1'), ('2', 'srv_2')`)
	conn, err := pgx.Connect(t.Context(), pgtest.As(t, url, c.names.Replace("@role"), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	for pair, want := range map[[2]string]string{
		{"", ""}: "", {"srv_1", ""}: "", {"srv_1", c.key.Sign("srv_1")}: "1", {"srv_2", c.key.Sign("srv_2")}: "2", {"srv_2", c.key.Sign("srv_1")}: "",
	} {
		var got string
		if _, err := conn.Exec(t.Context(), "SELECT set_config($1, $2, false), set_config($3, $4, false)", wall.Setting, pair[0], wall.Signature, pair[1]); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SELECT coalesce(string_agg(id, ' '), '') FROM public.orders").Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v", pair, got, err)
		}
	}
}

// Ensure the statement role alone is enough to look, and that what it can't see is said.
func TestWithoutOwner(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	role := pgtest.As(t, url, c.names.Replace("@role"), "secret")
	for _, owner := range []string{"", role} { // an owner need not be a superuser
		r, err := Examine(t.Context(), Config{URL: role, OwnerURL: owner, Files: files(t, shop)})
		if err != nil {
			t.Fatal(err)
		}
		unseen := strings.Join(r.Unseen, " ")
		if !r.Stands() || len(r.Unseen) != 2 || !strings.Contains(unseen, "whether there is a key") || !strings.Contains(unseen, "session_preload_libraries") {
			t.Errorf("%+v", r)
		}
	}
}

// Ensure the view is asked by whoever may, when the statement role may not.
func TestAskedByTheOwner(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `REVOKE USAGE ON SCHEMA tenantgate_wall FROM @role; `+anyServer)
	if got := list(c.examine(t, url).Findings); got != "breach view-lies tenantgate_wall.server\nbreach view-query tenantgate_wall.server\nrisk view-select tenantgate_wall.server" {
		t.Error(got)
	}
	r, err := Examine(t.Context(), Config{URL: pgtest.As(t, url, c.names.Replace("@role"), "secret"), Files: files(t, shop)})
	if err != nil || len(r.Unseen) != 3 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestCouldNotLook(t *testing.T) {
	c := openClinic(t)
	one, other := c.patient(t), c.patient(t)
	role := c.names.Replace("@role")
	for url, owner := range map[string]string{
		"postgres://u:hunter2@127.0.0.1:1/x": "", "://hunter2": "", pgtest.As(t, one, role, "secret"): other, pgtest.As(t, one, role, "hunter2x"): "",
	} {
		_, err := Examine(t.Context(), Config{URL: url, OwnerURL: owner, Files: files(t, shop)})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Ensure the transactions can change nothing, even as a superuser.
func TestReadOnly(t *testing.T) {
	c := openClinic(t)
	s, err := open(t.Context(), c.patient(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close(t.Context())
	if _, err := s.tx.Exec(t.Context(), "DELETE FROM public.orders"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

// Ensure the wall's expressions are known as Postgres prints them, for all types.
func TestExpressions(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `CREATE EXTENSION citext`)
	for _, typ := range [][2]string{{"pg_catalog", "text"}, {"pg_catalog", "varchar"}, {"pg_catalog", "bpchar"}, {"pg_catalog", "uuid"}, {"pg_catalog", "int2"}, {"pg_catalog", "int4"}, {"pg_catalog", "int8"}, {"public", "citext"}} {
		expression := wall.Expression(`ServerID`, typ[0], typ[1])
		c.exec(t, url, `DROP TABLE items CASCADE; CREATE TABLE items ("ServerID" `+typ[0]+"."+typ[1]+` PRIMARY KEY); ALTER TABLE items ENABLE ROW LEVEL SECURITY;
			CREATE POLICY tenantgate_server ON items TO @role USING (`+expression+`) WITH CHECK (`+expression+`)`)
		r := c.examine(t, url, strings.Replace(shop, "items: {scoped: true}", `items: {scoped: true, column: ServerID}`, 1))
		if !slices.Contains(r.Walled, "public.items") {
			t.Errorf("%v: %s", typ, list(r.Findings))
		}
	}
}

// Ensure policies are joined: what one admits is admitted, what one reads is read.
func TestNamed(t *testing.T) {
	const second = `apiVersion: tenantgate/v1
kind: Policy
metadata: {name: second}
statement: {kinds: [select]}
tables:
  orders: {scoped: true, columns: {stamp: {read: false, write: false}}}
  countries: {scoped: true, column: code}
functions: {allow: [public.other]}
`
	n, err := newNamed(files(t, shop, second), nil)
	if err != nil {
		t.Fatal(err)
	}
	orders, countries := n.Tables[0], n.Tables[2]
	if len(orders.Hidden) != 0 || !slices.Equal(orders.Locked, []string{"stamp"}) || len(orders.Access) != 4 || !countries.Scoped || countries.Column != "code" || len(n.Functions) != 2 {
		t.Errorf("%+v %+v %+v", orders, countries, n.Functions)
	}
}

// Ensure each check has a fault that gives it.
func TestEveryCheckIsHeld(t *testing.T) {
	var wanted strings.Builder
	for _, faults := range [][]fault{roleFaults, policyFaults, grantFaults, wallFaults, hiddenFaults, definerFaults, plannerFaults, indexFaults, surfaceFaults} {
		for _, f := range faults {
			wanted.WriteString(f.want + "\n")
		}
	}
	for _, c := range slices.Concat(roleChecks, policyChecks, grantChecks, wallChecks, viewChecks, hiddenChecks, definerChecks, plannerChecks, surfaceChecks) {
		if !strings.Contains(wanted.String(), " "+c.name+" ") {
			t.Errorf("no fault gives %s", c.name)
		}
	}
}

// Ensure the scripts make no index that another one makes superfluous.
func TestNoIndexTwice(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `ALTER TABLE items DROP CONSTRAINT items_order, DROP CONSTRAINT items_pkey, ADD PRIMARY KEY (id);
		ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id), ADD CONSTRAINT once UNIQUE (server_id, total), ADD CONSTRAINT again UNIQUE (total);
		ALTER TABLE items ADD CONSTRAINT one FOREIGN KEY (order_id) REFERENCES orders, ADD CONSTRAINT two FOREIGN KEY (name) REFERENCES orders`)
	var found string
	for range 2 { // the first makes what the second needs
		r := c.examine(t, url)
		found += list(r.Findings) + "\n"
		c.exec(t, url, r.Script())
	}
	if r := c.examine(t, url); len(r.Findings) > 0 || !strings.Contains(found, "hidden-index public.items") {
		t.Errorf("%s\nleft: %s", found, list(r.Findings))
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	err = conn.QueryRow(t.Context(), `SELECT string_agg(regexp_replace(indexdef, 'CREATE UNIQUE INDEX (.*) ON .* USING btree ', '\1'), '; ' ORDER BY indexname) FROM pg_indexes WHERE tablename IN ('items', 'orders')`).Scan(&got)
	if want := "items_pkey(server_id, id); once(server_id, total) WITH (deduplicate_items=off); orders_pkey(server_id, id)"; err != nil || got != want {
		t.Errorf("%s, want %s; %v", got, want, err)
	}
}

// Ensure the script tells what another part of it mends from what it leaves.
func TestMendedByAnother(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `ALTER TABLE orders ADD CONSTRAINT one_id UNIQUE (id); ALTER TABLE items DROP CONSTRAINT items_pkey, ADD PRIMARY KEY (id);
		ALTER TABLE items ADD CONSTRAINT plain FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE`)
	script := c.examine(t, url).Script()
	for _, want := range []string{
		"\n-- Mended below, by hidden-foreign-key plain on public.items: hidden-cascade: ",
		"\n-- Mended below, by hidden-unique items_pkey on public.items: hidden-index: ",
		"None has to be made: the SQL of hidden-unique items_pkey on public.items makes one that begins with it.\n",
		"\n-- Not fixed here: hidden-unique: the unique key one_id on public.orders",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
}

// Ensure the script of who gave the owner for the statement role does nothing as that owner.
func TestOwnerForStatementRole(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `ALTER ROLE @owner LOGIN PASSWORD 'secret'`)
	owner := pgtest.As(t, url, c.names.Replace("@owner"), "secret")
	r, err := Examine(t.Context(), Config{URL: owner, OwnerURL: owner, Files: files(t, shop)})
	if err != nil {
		t.Fatal(err)
	}
	if want := c.names.Replace("breach role-owner public.items\nbreach role-owner public.orders"); list(r.Findings) != want || r.Stands() {
		t.Errorf("%s", list(r.Findings))
	}
	if said := r.Findings[0].Instead; !strings.Contains(said, "CREATE ROLE tenantgate_statement LOGIN NOINHERIT PASSWORD '…'") {
		t.Errorf("no role to make: %s", said)
	}
	if err := c.try(owner, r.Script()); err == nil || !strings.Contains(err.Error(), "took this role for the one that statements run as") {
		t.Error(err)
	}
	if r := c.examine(t, url); len(r.Findings) > 0 {
		t.Error(list(r.Findings))
	}
}

// Ensure no name of an object ends a comment of the script or a line of it.
func TestScriptComments(t *testing.T) {
	r := &Report{Database: "d\nDROP", Findings: []Finding{{Grade: Breach, Check: "x", Object: "a\nDROP TABLE t;\r\n", Says: "s\n\u2028t", Instead: "i\nj"}, {Grade: Breach, Check: "y", Says: "what follows\nDROP", Instead: "to mind\nDROP", SQL: "SELECT 1;"}}}
	if want := "\n-- y: what follows DROP\n-- to mind DROP\nSELECT 1;\n"; !strings.Contains(r.Script(), want) {
		t.Errorf("no %q in %s", want, r.Script())
	}
	for _, got := range strings.Split(r.Script(), "\n") {
		if got != "" && !strings.HasPrefix(got, "--") && got != "BEGIN;" && got != "COMMIT;" && got != "SELECT 1;" && !strings.HasPrefix(got, "SET LOCAL ") && got != notAs("") {
			t.Errorf("%q", got)
		}
	}
}
