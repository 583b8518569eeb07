package control

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

func TestServersFromCreationToUpdate(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	made := m.server
	if made.Name != "one" || made.Description != "the first" || !made.Active || made.ProjectID != m.project.ID || made.Policy != "" {
		t.Errorf("created: %+v", made)
	}
	if len(made.ID) != 36 || made.ID[14] != '7' {
		t.Errorf("the id %q is no UUID version 7", made.ID)
	}
	if made.CreatedAt.Location() != time.UTC || !made.CreatedAt.Equal(made.CreatedAt.Truncate(time.Millisecond)) || time.Since(made.CreatedAt).Abs() > time.Minute {
		t.Errorf("createdAt: %v", made.CreatedAt)
	}
	got := must[proxy.Server](t)(s.GetServer(ctx, m.project.ID, made.ID))
	if got != made {
		t.Errorf("got %+v, created %+v", got, made)
	}
	if same := must[proxy.Server](t)(s.UpdateServer(ctx, m.project.ID, made.ID, nil, nil)); same != made {
		t.Errorf("an empty update changed %+v to %+v", made, same)
	}
	time.Sleep(2 * time.Millisecond)
	name, none := "two", ""
	renamed := must[proxy.Server](t)(s.UpdateServer(ctx, m.project.ID, made.ID, &name, nil))
	if renamed.Name != "two" || renamed.Description != "the first" || !renamed.UpdatedAt.After(made.UpdatedAt) || !renamed.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("renamed: %+v", renamed)
	}
	cleared := must[proxy.Server](t)(s.UpdateServer(ctx, m.project.ID, made.ID, nil, &none))
	if cleared.Name != "two" || cleared.Description != "" {
		t.Errorf("cleared: %+v", cleared)
	}
}

func TestServersThatAreNotThere(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	other := must[Project](t)(s.CreateProject(ctx, "other"))
	name := "x"
	for _, at := range [][2]string{{m.project.ID, newID()}, {other.ID, m.server.ID}, {newID(), m.server.ID}, {"", ""}, {"a/b", "\x00"}, {m.project.ID, strings.Repeat("x", 4000)}} {
		_, err := s.GetServer(ctx, at[0], at[1])
		wantCode(t, err, proxy.NotFound)
		_, err = s.UpdateServer(ctx, at[0], at[1], &name, nil)
		wantCode(t, err, proxy.NotFound)
		_, err = s.Server(ctx, proxy.Account{}, at[0], at[1])
		wantCode(t, err, proxy.NotFound)
	}
	for _, project := range []string{newID(), "", "a b", "\x00"} {
		_, _, err := s.CreateServer(ctx, project, "x", "")
		wantCode(t, err, proxy.NotFound)
		_, _, err = s.ListServers(ctx, project, 0, "")
		wantCode(t, err, proxy.NotFound)
		wantCode(t, s.Project(ctx, proxy.Account{}, project), proxy.NotFound)
	}
	for _, id := range []string{newID(), "", "\xff"} {
		wantCode(t, s.SetServerActive(ctx, id, false), proxy.NotFound)
		wantCode(t, s.SetServerPolicy(ctx, id, "p"), proxy.NotFound)
		wantCode(t, s.SetProjectPolicy(ctx, id, "p"), proxy.NotFound)
		wantCode(t, s.RevokeToken(ctx, id), proxy.NotFound)
		_, err := s.RotateKey(ctx, id, 0)
		wantCode(t, err, proxy.NotFound)
	}
}

func TestServersWithIDsOfTheirOwn(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	for _, id := range []string{"acme", "42", "Acme", strings.Repeat("x", 128)} {
		server, _, err := s.CreateServerWithID(ctx, m.project.ID, id, "n", "")
		wantCode(t, err, "")
		if server.ID != id {
			t.Errorf("id %q became %q", id, server.ID)
		}
	}
	other := must[Project](t)(s.CreateProject(ctx, "other"))
	var said []string
	for _, project := range []string{m.project.ID, other.ID} {
		_, _, err := s.CreateServerWithID(ctx, project, "acme", "n", "")
		wantCode(t, err, proxy.ConstraintViolation)
		said = append(said, err.Error())
	}
	if said[0] != said[1] {
		t.Errorf("whose the id is can be told: %q", said)
	}
	for _, id := range []string{"", "a b", "a/b", "..", "é"} {
		_, _, err := s.CreateServerWithID(ctx, m.project.ID, id, "n", "")
		wantCode(t, err, proxy.InvalidRequest)
	}
}

// Ensure an id is asked about before there is a server of it, under the policy that its project has now; one that was made
// for want of one, too.
func TestIDsThatRowsCantHave(t *testing.T) {
	type asked struct{ policy, id string }
	var last asked
	refused := false
	s := run(t, Config{ControlURL: controlDB(t), CheckServerID: func(policy, id string) error {
		last = asked{policy, id}
		if refused {
			return proxy.Refuse(proxy.InvalidRequest, "no")
		}
		return nil
	}})
	ctx, m := t.Context(), populate(t, s)
	if last != (asked{"", m.server.ID}) {
		t.Errorf("asked about %+v", last)
	}
	wantCode(t, s.SetProjectPolicy(ctx, m.project.ID, "numbers"), "")
	settle(t, s)
	refused = true
	_, _, err := s.CreateServerWithID(ctx, m.project.ID, "acme-1", "n", "")
	wantCode(t, err, proxy.InvalidRequest)
	if last != (asked{"numbers", "acme-1"}) || proxy.AsError(err).Message != "no" {
		t.Errorf("asked about %+v, said %v", last, err)
	}
	_, _, err = s.CreateServer(ctx, m.project.ID, "n", "")
	wantCode(t, err, proxy.InvalidRequest)
	if servers, _, err := s.ListServers(ctx, m.project.ID, 0, ""); err != nil || len(servers) != 1 {
		t.Errorf("%d servers, %v", len(servers), err)
	}
	refused = false
	_, _, err = s.CreateServerWithID(ctx, newID(), "acme-1", "n", "")
	wantCode(t, err, proxy.NotFound)
}

// Ensure names and descriptions are held to the interface's rules whoever gives them.
func TestNames(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	ctx, m := t.Context(), populate(t, s)
	for _, name := range []string{"", "   ", "\t\u0085", strings.Repeat("é", 101), "a\nb", "a\x7fb", "a\u0085b", "a\x00b", "a\xffb"} {
		_, _, err := s.CreateServer(ctx, m.project.ID, name, "")
		wantCode(t, err, proxy.InvalidRequest)
		_, err = s.UpdateServer(ctx, m.project.ID, m.server.ID, &name, nil)
		wantCode(t, err, proxy.InvalidRequest)
		_, err = s.CreateProject(ctx, name)
		wantCode(t, err, proxy.InvalidRequest)
	}
	for _, description := range []string{strings.Repeat("é", 1001), "a\x00b", "a\xffb"} {
		_, _, err := s.CreateServer(ctx, m.project.ID, "n", description)
		wantCode(t, err, proxy.InvalidRequest)
		_, err = s.UpdateServer(ctx, m.project.ID, m.server.ID, nil, &description)
		wantCode(t, err, proxy.InvalidRequest)
	}
	_, _, err := s.CreateServer(ctx, m.project.ID, strings.Repeat("é", 100), strings.Repeat("é\n", 500))
	wantCode(t, err, "")
	name := " trimmed\t"
	if made, _, err := s.CreateServer(ctx, m.project.ID, name, " as it is "); err != nil || made.Name != "trimmed" || made.Description != " as it is " {
		t.Errorf("%+v, %v", made, err)
	}
	if updated := must[proxy.Server](t)(s.UpdateServer(ctx, m.project.ID, m.server.ID, &name, nil)); updated.Name != "trimmed" {
		t.Errorf("%+v", updated)
	}
	if project := must[Project](t)(s.CreateProject(ctx, name)); project.Name != "trimmed" {
		t.Errorf("%+v", project)
	}
}

// Ensure the database holds what this package should have refused.
func TestNamesAreCheckedByTheDatabaseToo(t *testing.T) {
	url := controlDB(t)
	s := open(t, Config{ControlURL: url})
	m := populate(t, s)
	for _, name := range []string{"", strings.Repeat("é", 101), "a\nb", "a\x7fb"} {
		for _, table := range []string{"servers", "projects"} {
			_, err := connect(t, url).Exec(t.Context(), "UPDATE tenantgate."+table+" SET name = $1", name)
			wantCode(t, writeError("updating "+m.server.ID, err), proxy.InvalidRequest)
		}
	}
}

// Ensure a server that nobody has changed shows it: both its times are one.
func TestTimesOfCreation(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	m := populate(t, s)
	for range 300 {
		made, _, err := s.CreateServer(t.Context(), m.project.ID, "n", "")
		if err != nil || !made.CreatedAt.Equal(made.UpdatedAt) {
			t.Fatalf("%v and %v, %v", made.CreatedAt, made.UpdatedAt, err)
		}
	}
}

func TestListingPageByPage(t *testing.T) {
	url := controlDB(t)
	s := open(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, s)
	for i := range 6 {
		_, _, err := s.CreateServerWithID(ctx, m.project.ID, fmt.Sprintf("s%d", i), "n", "")
		wantCode(t, err, "")
	}
	exec(t, url, "UPDATE tenantgate.servers SET created_at = '2026-01-31T09:15:00.123Z' WHERE id IN ('s1', 's3', 's4', 's5')")
	all, next, err := s.ListServers(ctx, m.project.ID, 0, "")
	wantCode(t, err, "")
	ids := idsOf(all)
	if want := []string{"s1", "s3", "s4", "s5", m.server.ID, "s0", "s2"}; !slices.Equal(ids, want) || next != "" {
		t.Fatalf("listed %v then %q, want %v", ids, next, want)
	}
	for limit := 1; limit <= 8; limit++ {
		if got := pages(t, s, m.project.ID, limit); !slices.Equal(got, ids) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	empty := must[Project](t)(s.CreateProject(ctx, "empty"))
	none, next, err := s.ListServers(ctx, empty.ID, 10, "")
	if err != nil || none == nil || len(none) != 0 || next != "" {
		t.Errorf("of an empty project: %v %q %v", none, next, err)
	}
}

func idsOf(servers []proxy.Server) (ids []string) {
	for _, server := range servers {
		ids = append(ids, server.ID)
	}
	return ids
}

func pages(t *testing.T, s *Store, project string, limit int) (ids []string) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := s.ListServers(t.Context(), project, limit, cursor)
		if err != nil || len(page) > limit || (next != "" && len(page) < limit) {
			t.Fatalf("page of %d with cursor %q: %d servers, %v", limit, cursor, len(page), err)
		}
		ids, cursor = append(ids, idsOf(page)...), next
	}
	return ids
}

func TestCursorsThatWereNotGivenOut(t *testing.T) {
	s := open(t, Config{ControlURL: controlDB(t)})
	m := populate(t, s)
	good := position{m.server.CreatedAt, m.server.ID}.cursor()
	if _, _, err := s.ListServers(t.Context(), m.project.ID, 1, good); err != nil {
		t.Fatal(err)
	}
	raw := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, bad := range []string{"x", "!", good + "=", good + "A", " " + good, raw("1"), raw("1 "), raw(" a"),
		raw("1 a b"), raw("1 a/b"), raw("-1 a"), raw("zz"), raw("zzzzzzzzzzzzz a"), raw("01 a"), raw("A a"), raw("1 \x00"), strings.Repeat("A", 100_000)} {
		_, _, err := s.ListServers(t.Context(), m.project.ID, 1, bad)
		if err == nil {
			t.Errorf("cursor %.40q was taken", bad)
			continue
		}
		wantCode(t, err, proxy.InvalidRequest)
	}
}

// Ensure creating in parallel loses and deadlocks nothing, and each key opens its server.
func TestCreatingInParallel(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t)})
	m := populate(t, s)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				server, key, err := s.CreateServer(t.Context(), m.project.ID, "n", "")
				if err != nil {
					t.Errorf("creating: %v", err)
					return
				}
				got, err := s.Application(t.Context(), proxy.Account{}, server.ID, key)
				if err != nil || got.ID != server.ID {
					t.Errorf("its key: %v %v", got.ID, err)
				}
			}
		})
	}
	all.Wait()
	if servers, _, err := s.ListServers(t.Context(), m.project.ID, 0, ""); err != nil || len(servers) != 201 {
		t.Errorf("%d servers, %v", len(servers), err)
	}
}

// Ensure a server that stopped taking writes is told as trouble that passes, and that its
// connections are given up, so that the next one may lead to another server.
func TestWritingToAStandby(t *testing.T) {
	url := controlDB(t)
	s := open(t, Config{ControlURL: url})
	m := populate(t, s)
	db := query[string](t, url, "SELECT current_database()")
	exec(t, url, "ALTER DATABASE "+db+" SET default_transaction_read_only = on")
	s.pool.Reset() // the next connections are read-only
	_, _, err := s.CreateServer(t.Context(), m.project.ID, "n", "")
	wantCode(t, err, proxy.UpstreamUnavailable)
	exec(t, url, "SET transaction_read_only = off; ALTER DATABASE "+db+" RESET default_transaction_read_only")
	_, _, err = s.CreateServer(t.Context(), m.project.ID, "n", "")
	wantCode(t, err, "")
}
