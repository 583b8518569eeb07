package control

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

func openLookup(t *testing.T, cfg LookupConfig) *Lookup {
	t.Helper()
	l, err := OpenLookup(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// server is an account of a project with this one server.
func server(id string) proxy.Account { return proxy.Account{Project: "project of " + id, Server: id} }

func TestLookingUpByEmail(t *testing.T) {
	url, roles := bundledDB(t)
	exec(t, url, `INSERT INTO end_users (server_id, id, external_user_id, username, name, email, phone_number, password_hash) VALUES
		('a', '1', 'x1', 'bob', 'Bob', 'Bob@Example.eu', '+49', '$2b$hash'), ('b', '1', 'x2', 'rob', 'Rob', 'bob@example.eu', NULL, NULL), ('a', '2', '', '', '', '', NULL, NULL)`)
	l := openLookup(t, LookupConfig{URL: pgtest.As(t, url, roles.Lookup, "secret")})
	got, err := l.ByEmail(t.Context(), server("a"), "bOB@example.EU")
	wantCode(t, err, "")
	if got.ID != "1" || got.ExternalUserID != "x1" || got.Username != "bob" || got.Email != "Bob@Example.eu" || *got.PhoneNumber != "+49" || *got.PasswordHash != "$2b$hash" {
		t.Errorf("got %+v", got)
	}
	got, err = l.ByEmail(t.Context(), server("b"), "bob@example.eu")
	wantCode(t, err, "")
	if got.Username != "rob" || got.PhoneNumber != nil || got.PasswordHash != nil {
		t.Errorf("got %+v", got)
	}
	for _, miss := range [][2]string{{"a", ""}, {"a", "bob@example.e"}, {"c", "bob@example.eu"}, {"", "bob@example.eu"}, {"A", "bob@example.eu"},
		{"a", "b\x00"}, {"a", "\xff"}, {"\x00", "bob@example.eu"}, {"a", "%"}, {"a", "' OR true --"}, {"a", " bob@example.eu"}, {"a", strings.Repeat("x", 100_000)}} {
		_, err := l.ByEmail(t.Context(), server(miss[0]), miss[1])
		wantCode(t, err, proxy.UserNotFound)
	}
}

// Ensure the look-up is one probe of the bundled unique index.
func TestTheLookupUsesTheIndex(t *testing.T) {
	url, roles := bundledDB(t)
	exec(t, url, `INSERT INTO end_users (server_id, email) SELECT 's' || i % 10, 'u' || i || '@x.eu' FROM generate_series(1, 5000) i; ANALYZE end_users`)
	l := openLookup(t, LookupConfig{URL: pgtest.As(t, url, roles.Lookup, "secret")})
	rows, err := connect(t, url).Query(t.Context(), "EXPLAIN "+l.query, "s7", "U7@x.eu")
	if err != nil {
		t.Fatal(err)
	}
	var plan, line string
	for rows.Next() {
		_ = rows.Scan(&line)
		plan += line + "\n"
	}
	if rows.Err() != nil || !strings.Contains(plan, "end_users_email") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("%v\n%s", rows.Err(), plan)
	}
}

// Ensure other tables work: names that need quotes, other scope types, absent columns.
func TestLookingUpInAnotherTable(t *testing.T) {
	const uuid = "0190a7c2-7b1d-7c3e-8a52-2f6d0f3f1a11"
	cases := []struct {
		scope, here string
		others      []string // what is another server's id, though some equal it as the type sees it
	}{
		{"uuid", uuid, []string{"0190a7c2-7b1d-7c3e-8a52-2f6d0f3f1a12", "x", strings.ToUpper(uuid), "{" + uuid + "}"}},
		{"bigint", "42", []string{"43", "042", "+42", " 42", "42.0", "x", "99999999999999999999"}},
		{"numeric", "42", []string{"42.0", "4.2e1"}},
		{"varchar(64)", "acme", []string{"ACME", "acme "}},
		{"char(10)", "acme", []string{"a", "acme "}},
		{`text COLLATE "Blind to case"`, "acme", []string{"ACME"}},
	}
	for _, try := range cases {
		t.Run(try.scope, func(t *testing.T) {
			pgtest.Cluster(t)
			noLeaks(t)
			url := pgtest.Database(t)
			exec(t, url, fmt.Sprintf(`CREATE COLLATION "Blind to case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
				CREATE SCHEMA "My ""App"; CREATE TABLE "My ""App"."User" ("Tenant" %s, "select" bigint, mail varchar(200), gone text);
				ALTER TABLE "My ""App"."User" DROP gone;
				INSERT INTO "My ""App"."User" VALUES ('%s', 7, 'Bob@x.eu')`, try.scope, try.here))
			l := openLookup(t, LookupConfig{URL: url, Schema: `My "App`, Table: "User", ScopeColumn: "Tenant",
				Columns: LookupColumns{ID: "select", Email: "mail", ExternalUserID: "mail", Username: NoColumn, PhoneNumber: NoColumn, PasswordHash: NoColumn}})
			got, err := l.ByEmail(t.Context(), server(try.here), "bob@X.eu")
			wantCode(t, err, "")
			if want := (proxy.EndUser{ID: "7", ExternalUserID: "Bob@x.eu", Email: "Bob@x.eu"}); got != want {
				t.Errorf("got %+v", got)
			}
			for _, other := range try.others {
				if _, err := l.ByEmail(t.Context(), server(other), "bob@x.eu"); err == nil {
					t.Errorf("server %q got the user of %q", other, try.here)
				} else {
					wantCode(t, err, proxy.UserNotFound)
				}
			}
		})
	}
}

// Ensure that where a table lets two users have an address, nobody is taken for another.
func TestTwoUsersWithOneAddress(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	url := pgtest.Database(t)
	exec(t, url, `CREATE TABLE end_users (id text, server_id text, external_user_id text, username text, email text, phone_number text, password_hash text);
		INSERT INTO end_users (id, server_id, email) VALUES ('1', 'a', 'bob@x'), ('2', 'a', 'Bob@x'), ('3', 'a', 'eve@x'), ('4', 'a', 'eve@x')`)
	l := openLookup(t, LookupConfig{URL: url})
	for email, id := range map[string]string{"bob@x": "1", "Bob@x": "2"} {
		if got, err := l.ByEmail(t.Context(), server("a"), email); err != nil || got.ID != id {
			t.Errorf("%s: got %+v, %v", email, got, err)
		}
	}
	for _, email := range []string{"BOB@x", "eve@x"} {
		_, err := l.ByEmail(t.Context(), server("a"), email)
		wantCode(t, err, policy.Internal)
		if e := proxy.AsError(err); strings.Contains(e.Message, "e-mail") || e.Message != proxy.AsError(errors.New("x")).Message || !strings.Contains(e.Error(), "several rows") {
			t.Errorf("told %q, logged %q", e.Message, e.Error())
		}
	}
}

func TestLookupConfigurationsThatFail(t *testing.T) {
	url, roles := bundledDB(t)
	own := pgtest.As(t, url, roles.Lookup, "secret")
	exec(t, url, "CREATE SCHEMA closed; CREATE TABLE closed.end_users (id text)")
	for message, cfg := range map[string]LookupConfig{
		"required":             {},
		"are required":         {URL: own, Columns: LookupColumns{Email: NoColumn}},
		`"public"."nobody"`:    {URL: own, Table: "nobody"},
		`"closed"."end_users"`: {URL: own, Schema: "closed"},
		`no column "e_mail"`:   {URL: own, Columns: LookupColumns{Email: "e_mail"}},
		`no column "tenant"`:   {URL: own, ScopeColumn: "tenant"},
		`no column "external_user_id", "username", "email", "phone_number", "password_hash": in the file of --config name the right one under endUsers.columns (of the server's id: endUsers.scopeColumn), or "-" for none`: {URL: own, Table: "messages"},
		"may not read":             {URL: own, Table: "messages", Columns: LookupColumns{ExternalUserID: NoColumn, Username: NoColumn, Email: "content", PhoneNumber: NoColumn, PasswordHash: NoColumn}},
		"reading the table":        {URL: "postgres://u:hunter2@127.0.0.1:1/x"},
		"reading the database URL": {URL: "postgres://%zz"},
	} {
		l, err := OpenLookup(t.Context(), cfg)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want %q", err, message)
		}
	}
}

// Ensure nothing of a URL that can't be read is told: the password may be anywhere in it.
func TestURLsAreNotTold(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@h:port/x", "postgres://u:hunter2%zz@h/x", "postgres://u@h/x?password=hunter2&sslmode=none",
		"host=h password = 'hunter2", "host=h pasword=hunter2 port=hunter2", "postgres://h/x?connect_timeout=hunter2", "hunter2",
	} {
		_, err := OpenLookup(t.Context(), LookupConfig{URL: url})
		_, openErr := Open(t.Context(), Config{ControlURL: url})
		_, bundledErr := MigrateBundled(t.Context(), url, Roles{Statement: "a", Lookup: "b"})
		for _, err := range []error{err, openErr, bundledErr, MigrateControl(t.Context(), url)} {
			if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "database URL") {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}

func TestTheLookupsDatabaseIsAway(t *testing.T) {
	url, roles := bundledDB(t)
	r, through := pgtest.NewRelay(t, pgtest.As(t, url, roles.Lookup, "secret"))
	l := openLookup(t, LookupConfig{URL: through, Timeout: 300 * time.Millisecond})
	exec(t, url, `INSERT INTO end_users (server_id, email) VALUES ('a', 'bob@x')`)
	away := func() {
		t.Helper()
		began := time.Now()
		_, err := l.ByEmail(t.Context(), server("a"), "bob@x")
		wantCode(t, err, proxy.UpstreamUnavailable)
		if e := proxy.AsError(err); e.RetryAfter <= 0 || strings.Contains(e.Message, "127.0.0.1") || time.Since(began) > time.Second {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
	}
	r.Silent.Store(true)
	away()
	r.Cut(true)
	away()
	r.Mend()
	within(t, 3*time.Second, "recovery", func() bool { _, err := l.ByEmail(t.Context(), server("a"), "bob@x"); return err == nil })
	exec(t, url, "ALTER ROLE "+roles.Lookup+" PASSWORD 'another'") // the login is refused: about the connection, not the look-up
	l.pool.Reset()
	away()
	exec(t, url, "ALTER ROLE "+roles.Lookup+" PASSWORD 'secret'; DROP TABLE end_users CASCADE")
	_, err := l.ByEmail(t.Context(), server("a"), "bob@x")
	wantCode(t, err, policy.Internal)
}

// Ensure that of users with long values no more is read than there is room for, whichever value is long
// and however much longer, and that no other is.
func TestLongUsers(t *testing.T) {
	url, roles := bundledDB(t)
	exec(t, url, `INSERT INTO end_users (server_id, id, external_user_id, username, email, phone_number, password_hash) VALUES
		('a', '1', '', '', 'fits@x', NULL, repeat('x', $1 - 7)), ('a', '2', '', '', 'long@x', NULL, repeat('x', $1 - 6)), ('a', '3', '', repeat('ü', $1 / 2), 'name@x', NULL, NULL),
		('a', '4', repeat('x', $1 / 2), '', 'both@x', repeat('x', $1 / 2), NULL), ('a', '5', '', '', 'huge@x', NULL, repeat('x', 20000000))`, maxUser)
	l := openLookup(t, LookupConfig{URL: pgtest.As(t, url, roles.Lookup, "secret")})
	got, err := l.ByEmail(t.Context(), server("a"), "fits@x")
	wantCode(t, err, "")
	if n := len(got.ID + got.Email + *got.PasswordHash); n != maxUser {
		t.Errorf("%d bytes", n)
	}
	for _, email := range []string{"long@x", "name@x", "both@x", "huge@x"} {
		got, err := l.ByEmail(t.Context(), server("a"), email)
		wantCode(t, err, proxy.ResultTooLarge)
		if got != (proxy.EndUser{}) {
			t.Errorf("%s: got %.100v", email, got)
		}
	}
	if found := must[[]match](t)(l.find(t.Context(), "a", "huge@x")); len(found) != 1 || found[0].user.PasswordHash != nil || found[0].user.Email != "" {
		t.Errorf("read %.100v", found)
	}
}

// Ensure no server keeps another's users from being looked up, nor a project another's, and that it is
// told whose share was in use.
func TestUsersAreLookedUpInTurn(t *testing.T) {
	url, roles := bundledDB(t)
	var short []string
	l := openLookup(t, LookupConfig{URL: pgtest.As(t, url, roles.Lookup, "secret"), Short: func(what, whose string) { short = append(short, what+" "+whose) }})
	look := func(a proxy.Account) error { _, err := l.ByEmail(t.Context(), a, "bob@x"); return err }
	for range 3 * l.pool.Config().MaxConns { // each turn is given back
		wantCode(t, look(server("a")), proxy.UserNotFound)
	}
	l.turns.Hold(server("a"), l.turns.MostOfServer())
	err := look(server("a"))
	wantCode(t, err, proxy.Overloaded)
	if !errors.Is(err, proxy.ErrServerShare) || !proxy.AsError(err).Retryable {
		t.Errorf("%v", err)
	}
	second := proxy.Account{Project: server("a").Project, Server: "a2"}
	wantCode(t, look(second), proxy.UserNotFound)
	l.turns.Hold(second, l.turns.MostOfProject()-l.turns.MostOfServer())
	wantCode(t, look(second), proxy.Overloaded)
	wantCode(t, look(server("b")), proxy.UserNotFound)
	if len(short) != 2 || short[0] != "users server" || short[1] != "users project" {
		t.Errorf("told: %q", short)
	}
}
