package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func (in *instance) lookup(t testing.TB, email string, headers ...string) reply {
	t.Helper()
	return in.do(t, http.MethodGet, "/api/auth/user/by-email?email="+url.QueryEscape(email), "", headers...)
}

func (in *instance) application() []string {
	return []string{"X-Server-ID: " + in.ServerID, "X-API-Key: " + in.APIKey}
}

func TestLookup(t *testing.T) {
	in := sharedInstance(t)
	r := in.lookup(t, "ADA@Example.com", in.application()...)
	want := `{"id":"ada","externalUserId":"u-1","username":"ada","email":"ada@example.com","phoneNumber":"+44 20 7946 0001","passwordHash":"$argon2id$demo$not-a-real-hash"}`
	if r.status != 200 || r.body != want {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := in.lookup(t, "grace@example.com", in.application()...); !strings.Contains(r.body, `"phoneNumber":null,"passwordHash":null`) {
		t.Errorf("%s", r.body)
	}
	if r := in.lookup(t, "nobody@example.com", in.application()...); r.status != 404 || errorOf(t, r).Code != "user_not_found" {
		t.Errorf("%d %s", r.status, r.body)
	}
	for _, path := range []string{"/api/auth/user/by-email", "/api/auth/user/by-email?email=", "/api/auth/user/by-email?email=a&email=b"} {
		if r := in.do(t, http.MethodGet, path, "", in.application()...); r.status != 400 || errorOf(t, r).Code != "invalid_request" {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// TestUnknownServerAndWrongKey must be alike to the byte, but for the request id.
func TestUnknownServerAndWrongKey(t *testing.T) {
	in := sharedInstance(t)
	// All are as keys should be, so that none is refused for its looks: another server's,
	// and one that was nobody's any more.
	_, wrong := in.newServer(t, "another")
	id, retired := in.newServer(t, "retired")
	in.cli(t, "server", "rotate-key", id)
	within(t, 401, func() reply { return in.lookup(t, "a@b.c", "X-Server-ID: "+id, "X-API-Key: "+retired) })
	var bodies []string
	for _, headers := range [][]string{
		{"X-Server-ID: " + in.ServerID, "X-API-Key: " + wrong}, {"X-Server-ID: none", "X-API-Key: " + wrong},
		{"X-Server-ID: none", "X-API-Key: " + in.APIKey}, {"X-Server-ID: " + in.ServerID, "X-API-Key: x"}, {"X-Server-ID: " + id, "X-API-Key: " + retired},
		{"X-Server-ID: " + in.ServerID, "X-API-Key: " + retired}, {"X-Server-ID: none", "X-API-Key: " + retired},
	} {
		r := in.lookup(t, "ada@example.com", headers...)
		e := errorOf(t, r)
		if r.status != 401 || e.Code != "unauthorized" || r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%v: %d %s", headers, r.status, r.body)
		}
		bodies = append(bodies, strings.ReplaceAll(r.body, e.RequestID, ""))
	}
	for _, b := range bodies[1:] {
		if b != bodies[0] {
			t.Errorf("%s differs from %s", b, bodies[0])
		}
	}
}

// newServer makes a server of the demo's project.
func (in *instance) newServer(t testing.TB, name string) (id, key string) {
	t.Helper()
	var made struct{ ID, APIKey string }
	if err := json.Unmarshal([]byte(in.cli(t, "server", "create", name, "--project", in.ProjectID, "--json")), &made); err != nil || made.APIKey == "" {
		t.Fatal(err)
	}
	return made.ID, made.APIKey
}

func TestBearer(t *testing.T) {
	in := sharedInstance(t)
	twice := []string{in.bearer(), in.bearer()}
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{nil, 401}, {[]string{"Authorization: Bearer"}, 401}, {[]string{"Authorization: Basic eDp5"}, 401}, {[]string{"Authorization: Bearer tg_dev_nope"}, 401},
		{[]string{in.bearer() + "x"}, 401}, {[]string{"Authorization: Bearer " + in.APIKey}, 401}, {twice, 400},
		{[]string{strings.Replace(in.bearer(), "Bearer", "bearer", 1)}, 200},
		{[]string{"Authorization: Bearer eyJhbGciOiJub25lIn0.e30."}, 401},
	} {
		if r := in.do(t, http.MethodGet, in.serversPath(), "", c.headers...); r.status != c.status || c.status == 401 && r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%.60v: %d %s, want %d", c.headers, r.status, r.body, c.status)
		}
	}
}

// TestReach shows that what credentials do not reach looks like what does not exist.
func TestReach(t *testing.T) {
	in := sharedInstance(t)
	var project struct{ ID string }
	if err := json.Unmarshal([]byte(in.cli(t, "project", "create", "other", "--json")), &project); err != nil {
		t.Fatal(err)
	}
	var server struct{ ID string }
	if err := json.Unmarshal([]byte(in.cli(t, "server", "create", "theirs", "--project", project.ID, "--json")), &server); err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, path := range []string{
		"/api/developer/projects/none/servers", "/api/developer/projects/" + project.ID + "/servers",
		"/api/developer/projects/" + project.ID + "/servers/" + server.ID, in.serversPath() + "/" + server.ID, in.serversPath() + "/none",
		"/api/developer/projects/" + project.ID + "/servers/" + in.ServerID,
	} {
		r := in.do(t, http.MethodGet, path, "", in.bearer())
		e := errorOf(t, r)
		if r.status != 404 || e.Code != "not_found" {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
		bodies = append(bodies, strings.ReplaceAll(r.body, e.RequestID, ""))
		if strings.Count(strings.Join(bodies, ""), bodies[0]) != len(bodies) {
			t.Errorf("%s differs: %s", path, r.body)
		}
	}
	if r := in.queryAs(t, server.ID, "SELECT 1"); r.status != 404 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestScopes(t *testing.T) {
	in := sharedInstance(t)
	token := func(scopes ...string) string {
		args := []string{"token", "create", "--project", in.ProjectID, "--json"}
		for _, s := range scopes {
			args = append(args, "--scope", s)
		}
		var made struct{ ID, Token string }
		if err := json.Unmarshal([]byte(in.cli(t, args...)), &made); err != nil || made.ID == "" {
			t.Fatal(err)
		}
		return "Authorization: Bearer " + made.Token
	}
	manage, read, write, both := token("manage"), token("read"), token("write"), token("read", "write")
	const deletesAndReads = `{"query":"WITH x AS (DELETE FROM files WHERE server_id = ? AND id = 'none' RETURNING id) SELECT * FROM x"}`
	const selects, deletes, locks = `{"query":"SELECT 1"}`, `{"query":"DELETE FROM files WHERE server_id = ? AND id = 'none'"}`, `{"query":"SELECT id FROM files WHERE server_id = ? FOR UPDATE"}`
	query := in.queryPath(in.ServerID)
	for _, c := range []struct {
		method, path, body, bearer string
		status                     int
	}{
		{"GET", in.serversPath(), "", manage, 200}, {"GET", in.serversPath(), "", read, 403}, {"POST", in.serversPath(), `{"name":"x"}`, write, 403},
		{"POST", query, selects, read, 200}, {"POST", query, deletes, write, 200}, {"POST", query, deletes, read, 403}, {"POST", query, selects, write, 403},
		{"POST", query, selects, manage, 403}, {"POST", query, locks, read, 403}, {"POST", query, locks, write, 403}, {"POST", query, locks, both, 200},
		{"POST", query, deletesAndReads, read, 403}, {"POST", query, deletesAndReads, write, 403}, {"POST", query, deletesAndReads, both, 200},
	} {
		r := in.do(t, c.method, c.path, c.body, c.bearer)
		if r.status != c.status || c.status == 403 && errorOf(t, r).Code != "insufficient_scope" {
			t.Errorf("%s %s %s: %d %s, want %d", c.method, c.path, c.body, r.status, r.body, c.status)
		}
	}
}

// within asks until a change has come through, which must be within a second. It counts the
// tries, not the time: what a busy machine takes for each of them is not the service's.
func within(t *testing.T, status int, request func() reply) (r reply) {
	t.Helper()
	for range 100 {
		if r = request(); r.status == status {
			return r
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after a second: %d %s, want %d", r.status, r.body, status)
	return r
}

// Who holds a token is told how it ended; the code, the status and the challenge are those of any other.
func TestRevocation(t *testing.T) {
	in := sharedInstance(t)
	ended := func(r reply, says string) {
		t.Helper()
		if e := errorOf(t, r); e.Code != "unauthorized" || !strings.HasPrefix(e.Message, says) || !strings.Contains(e.Message, "tenantgate token create") ||
			r.header.Get("WWW-Authenticate") != `Bearer realm="tenantgate", error="invalid_token"` {
			t.Errorf("%s %v, want %q", r.body, r.header, says)
		}
	}
	var made struct{ ID, Token string }
	if err := json.Unmarshal([]byte(in.cli(t, "token", "create", "--project", in.ProjectID, "--expires", "90d", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	list := func() reply {
		return in.do(t, http.MethodGet, in.serversPath(), "", "Authorization: Bearer "+made.Token)
	}
	if r := list(); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	in.cli(t, "token", "revoke", made.ID)
	ended(within(t, 401, list), "this access token was revoked; ")
	short := struct{ Token, ExpiresAt string }{}
	if err := json.Unmarshal([]byte(in.cli(t, "token", "create", "--project", in.ProjectID, "--expires", "1s", "--json")), &short); err != nil {
		t.Fatal(err)
	}
	made.Token = short.Token
	list()
	time.Sleep(1100 * time.Millisecond)
	r := list()
	if r.status != 401 {
		t.Errorf("an expired token: %d %s", r.status, r.body)
	}
	ended(r, "this access token expired at "+short.ExpiresAt+"; ")
}

// TestCredentialInTheOthersPlace sends each kind of credential where the other one belongs. That one exists makes no
// difference, and neither does the server that is named.
func TestCredentialInTheOthersPlace(t *testing.T) {
	in := sharedInstance(t)
	for _, token := range []string{in.AccessToken, "tg_dev_none", in.AccessToken + "x"} {
		for _, server := range []string{in.ServerID, "none"} {
			r := in.lookup(t, "ada@example.com", "X-Server-ID: "+server, "X-API-Key: "+token)
			if e := errorOf(t, r); r.status != 401 || e.Code != "unauthorized" || !strings.HasPrefix(e.Message, "this is an access token, not an API key: ") ||
				r.header.Get("WWW-Authenticate") != `ServerKey realm="tenantgate", headers="X-Server-ID X-API-Key"` {
				t.Errorf("%d %s %v", r.status, r.body, r.header)
			}
		}
	}
	for _, key := range []string{in.APIKey, "tg_srv_none", in.APIKey + "x"} {
		r := in.do(t, http.MethodGet, in.serversPath(), "", "Authorization: Bearer "+key)
		if e := errorOf(t, r); r.status != 401 || e.Code != "unauthorized" || !strings.HasPrefix(e.Message, "this is an API key, not an access token: ") ||
			r.header.Get("WWW-Authenticate") != `Bearer realm="tenantgate", error="invalid_token"` {
			t.Errorf("%d %s %v", r.status, r.body, r.header)
		}
	}
	conn, err := pgx.Connect(t.Context(), strings.Replace(in.PgURL, in.APIKey, in.AccessToken, 1))
	if err == nil {
		_ = conn.Close(t.Context())
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "28P01" || !strings.Contains(e.Hint, "an access token (tg_dev_…) is for REST only") {
		t.Errorf("a token as the password: %v", err)
	}
}

func TestInactiveServer(t *testing.T) {
	in := sharedInstance(t)
	_, server := serverOf(t, in.do(t, http.MethodPost, in.serversPath(), `{"name":"idle"}`, in.bearer()))
	id, key := server["id"].(string), server["apiKey"].(string)
	query := func() reply { return in.queryAs(t, id, "SELECT 1") }
	look := func() reply { return in.lookup(t, "a@b.c", "X-Server-ID: "+id, "X-API-Key: "+key) }
	if query().status != 200 || look().status != 404 {
		t.Fatal("the new server can't be used")
	}
	in.cli(t, "server", "deactivate", id)
	for _, r := range []reply{within(t, 403, query), within(t, 403, look)} {
		if errorOf(t, r).Code != "server_inactive" {
			t.Errorf("%s", r.body)
		}
	}
	if r := in.do(t, http.MethodGet, in.serversPath()+"/"+id, "", in.bearer()); r.status != 200 || !strings.Contains(r.body, `"isActive":false`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := in.do(t, http.MethodPut, in.serversPath()+"/"+id, `{"name":"still"}`, in.bearer()); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	in.cli(t, "server", "activate", id)
	within(t, 200, query)
}

func TestRotatedKey(t *testing.T) {
	in := sharedInstance(t)
	_, server := serverOf(t, in.do(t, http.MethodPost, in.serversPath(), `{"name":"keys"}`, in.bearer()))
	id, old := server["id"].(string), server["apiKey"].(string)
	look := func(key string) func() reply {
		return func() reply { return in.lookup(t, "a@b.c", "X-Server-ID: "+id, "X-API-Key: "+key) }
	}
	rotate := func(flags ...string) string {
		var made struct{ APIKey string }
		if err := json.Unmarshal([]byte(in.cli(t, append([]string{"server", "rotate-key", id, "--json"}, flags...)...)), &made); err != nil {
			t.Fatal(err)
		}
		return made.APIKey
	}
	second := rotate("--overlap", "24h")
	within(t, 404, look(second))
	if r := look(old)(); r.status != 404 {
		t.Errorf("the old key within the overlap: %d", r.status)
	}
	third := rotate()
	within(t, 401, look(old))
	within(t, 401, look(second))
	within(t, 404, look(third))
}
