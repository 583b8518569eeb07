package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The ids of tenants whose rows are there before their servers are.
const plotID, meterID = "5a0c1f0e-0000-4000-8000-00000000000a", "42"

const (
	uuidsAlone   = "a server's id must be one that its rows can have: the scope column tenant of public.plots has the type uuid, which takes only UUIDs, in lower case and with hyphens"
	numbersAlone = "a server's id must be one that its rows can have: the scope column tenant of public.meters has the type int8, which takes only whole numbers of 8 bytes, without a plus sign or leading zeros"
)

// withTenants starts the program on tables that have tenants: by uuid under its default policy, and by number under another.
func withTenants(t *testing.T) (in *instance, plots, meters string) {
	t.Helper()
	dir, first := firstStart(t)
	first.admin(t, "CREATE TABLE plots (tenant uuid NOT NULL, size int, lot bigint)", "CREATE TABLE meters (tenant bigint NOT NULL, size int)",
		"INSERT INTO plots VALUES ('"+plotID+"', 7), ('5a0c1f0e-0000-4000-8000-00000000000b', 8)", "INSERT INTO meters VALUES (42, 9)",
		"GRANT SELECT ON plots, meters TO "+statementRole)
	if code := first.stop(); code != 0 {
		t.Fatalf("the first start ended with %d", code)
	}
	plots, meters = scoping(t, "plots", "plots", "tenant"), scoping(t, "meters", "meters", "tenant")
	in, err := launchIn(dir, "--policy", plots, "--policy", meters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.stop() })
	return in, plots, meters
}

// scoping writes a policy of one table.
func scoping(t *testing.T, name, table, column string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name+".yaml")
	src := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: " + name + "}\nstatement: {kinds: [select]}\nscope: {mode: inject}\ntables: {" + table + ": {scoped: true, column: " + column + "}}\n"
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// made gives the id of what a command made.
func (in *instance) made(t *testing.T, args ...string) (made struct{ ID, Token string }) {
	t.Helper()
	if err := json.Unmarshal([]byte(in.cli(t, append(args, "--json")...)), &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// project makes a project, with a token for it that may do what the scopes say.
func (in *instance) project(t *testing.T, name string, scopes ...string) (path, id, bearer string) {
	t.Helper()
	id = in.made(t, "project", "create", name).ID
	args := []string{"token", "create", "--project", id}
	for _, s := range scopes {
		args = append(args, "--scope", s)
	}
	return "/api/developer/projects/" + id + "/servers", id, "Authorization: Bearer " + in.made(t, args...).Token
}

func TestServersForTenantsThatExist(t *testing.T) {
	in, plots, meters := withTenants(t)
	path, id, bearer := in.project(t, "onboarding", "manage", "read")
	otherPath, _, other := in.project(t, "another", "manage")
	_, _, reader := in.project(t, "reader", "read")
	reading := "Authorization: Bearer " + in.made(t, "token", "create", "--project", id, "--scope", "read", "--scope", "write").Token
	body := func(id string) string { return `{"name":"n","id":"` + id + `"}` }
	refused := func(name string, r reply, status int, code, message string) {
		t.Helper()
		if e := errorOf(t, r); r.status != status || e.Code != code || !strings.HasPrefix(e.Message, message) {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	for _, id := range []string{"acme-1", strings.ToUpper(plotID), "42"} {
		refused(id, in.do(t, http.MethodPost, path, body(id), bearer), 400, "invalid_request", `member "id": `+uuidsAlone)
	}
	refused("without manage", in.do(t, http.MethodPost, path, body(plotID), reading), 403, "insufficient_scope", "")
	refused("out of reach", in.do(t, http.MethodPost, path, body(plotID), reader), 404, "not_found", "")
	refused("no id at all", in.do(t, http.MethodPost, path, `{"name":"n","id":"\u00e9"}`, bearer), 400, "invalid_request", `member "id": an id has 1 to 128`)
	if _, server := serverOf(t, in.do(t, http.MethodPost, path, body(plotID), bearer)); server["id"] != plotID {
		t.Errorf("made %v", server)
	}
	query := func() reply {
		return in.do(t, http.MethodPost, path+"/"+plotID+"/database/query", `{"query":"SELECT size FROM plots"}`, bearer)
	}
	if r := within(t, 200, query); !strings.Contains(r.body, `"rows":[[7]]`) {
		t.Errorf("%s", r.body)
	}
	const taken = "a server with this id exists already, in this project or in another"
	refused("twice", in.do(t, http.MethodPost, path, body(plotID), bearer), 409, "constraint_violation", taken)
	refused("from another project", in.do(t, http.MethodPost, otherPath, body(plotID), other), 409, "constraint_violation", taken)
	if _, server := serverOf(t, in.do(t, http.MethodPost, path, `{"name":"n"}`, bearer)); len(server["id"].(string)) != 36 {
		t.Errorf("made %v", server)
	}

	in.cli(t, "project", "set-policy", id, "meters")
	serverOf(t, within(t, 200, func() reply { return in.do(t, http.MethodPost, path, body(meterID), bearer) }))
	refused("as a number", in.do(t, http.MethodPost, path, body("042"), bearer), 400, "invalid_request", `member "id": `+numbersAlone)
	refused("a made one", in.do(t, http.MethodPost, path, `{"name":"n"}`, bearer), 400, "invalid_request", `member "id": `+numbersAlone)
	in.commandsAgree(t, id, plots, meters)
}

// commandsAgree has the command make servers in a project whose policy is meters. It says what REST does, where it knows the
// policy and the database, and says so where it does not.
func (in *instance) commandsAgree(t *testing.T, project, plots, meters string) {
	t.Helper()
	plain := in.made(t, "project", "create", "plain").ID
	data, control := "--data-dir="+filepath.Join(in.dir, "data"), "--control-database-url="+in.AdminDatabaseURL
	lots := scoping(t, "lots", "plots", "lot")
	const unchecked = "note: it was not checked whether the scope columns can store this id, since "
	for _, c := range []struct {
		id, project string
		flags       []string
		code        int
		says        string // all of stderr, or how it begins
	}{
		{"acme-1", plain, []string{data, "--policy", plots, "--policy", meters}, 1, "tenantgate: " + uuidsAlone + "\n"},
		{"42", plain, []string{data, "--policy", plots, "--policy", meters}, 1, "tenantgate: " + uuidsAlone + "\n"},
		{"acme-1", plain, []string{data, "--policy", plots, "--policy", lots}, 1, "tenantgate: " + uuidsAlone + "\n"},
		{"acme-1", plain, []string{data, "--policy", lots, "--policy", plots}, 1, "tenantgate: " + strings.Replace(numbersAlone, "tenant of public.meters", "lot of public.plots", 1) + "\n"},
		{plotID, project, []string{control, "--policy", plots + "," + meters}, 1, "tenantgate: " + numbersAlone + "\n"},
		{"", project, []string{data, "--policy", meters}, 1, "tenantgate: " + numbersAlone + "\n"},
		{"43", project, []string{data, "--policy", meters}, 0, ""},
		{"44", project, []string{control, "--policy", meters, "--database-url", in.AdminDatabaseURL}, 0, ""},
		{"", plain, []string{data, "--policy", plots}, 0, ""},
		{"acme-1", plain, []string{data}, 0, ""}, // the shipped policies' tables are there, too
		{"acme-2", project, []string{data}, 0, unchecked + "the project is assigned the policy meters, which was not given; name your policies with --policy\n"},
		{"acme-3", plain, []string{control, "--policy", plots, "--database-url", strings.Replace(in.AdminDatabaseURL, "/"+devDatabase, "/postgres", 1)}, 0,
			unchecked + "the database (--database-url) has none of the scoped tables of the policy plots; name your policies with --policy\n"},
		{"acme-4", plain, []string{control, "--policy", plots, "--database-url", "postgres://127.0.0.1:1/x?connect_timeout=1"}, 1, "tenantgate: looking at the type of the scope columns (--database-url): connecting: "},
		{"acme-5", plain, []string{data, "--database-url", in.AdminDatabaseURL}, 2, "tenantgate: --database-url and --data-dir name two databases: use one\n"},
	} {
		args := append([]string{"server", "create", "n", "--project", c.project}, c.flags...)
		if c.id != "" {
			args = append(args, "--id", c.id)
		}
		code, _, said := command(t, args...)
		if code != c.code || !strings.HasPrefix(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s %v: exit %d: %s", c.id, c.flags, code, said)
		}
	}
}
