package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func (in *instance) serversPath() string {
	return "/api/developer/projects/" + in.ProjectID + "/servers"
}

// members gives the names of a JSON object's members in their order.
func members(t *testing.T, object string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// serverOf takes the server out of {"server": {…}}.
func serverOf(t *testing.T, r reply) (raw string, fields map[string]any) {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	raw = string(body["server"])
	if err := json.Unmarshal(body["server"], &fields); err != nil || len(body) != 1 {
		t.Fatalf("%s: %v", r.body, err)
	}
	return raw, fields
}

func TestServerObjects(t *testing.T) {
	in := sharedInstance(t)
	stamp := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	created := in.do(t, http.MethodPost, in.serversPath(), `{"name":"  alpha "}`, in.bearer())
	raw, server := serverOf(t, created)
	if got := strings.Join(members(t, raw), ","); got != "id,name,description,apiKey,projectId,createdAt" {
		t.Errorf("creation returns %s", got)
	}
	if created.header.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %q", created.header.Get("Content-Type"))
	}
	if server["name"] != "alpha" || server["description"] != "" || server["projectId"] != in.ProjectID || !stamp.MatchString(server["createdAt"].(string)) {
		t.Errorf("created %v", server)
	}
	if !regexp.MustCompile(`^tg_srv_[0-9A-Za-z]{49}$`).MatchString(server["apiKey"].(string)) {
		t.Errorf("the key has another shape")
	}
	path := in.serversPath() + "/" + server["id"].(string)
	const fields = "id,name,description,projectId,createdAt,updatedAt,isActive"
	for _, r := range []reply{
		in.do(t, http.MethodGet, path, "", in.bearer()),
		in.do(t, http.MethodPut, path, `{}`, in.bearer()),
		in.do(t, http.MethodPut, path, `{"description":"d"}`, in.bearer()),
	} {
		raw, got := serverOf(t, r)
		if strings.Join(members(t, raw), ",") != fields || got["isActive"] != true || !stamp.MatchString(got["updatedAt"].(string)) {
			t.Errorf("%s", raw)
		}
	}
	r := in.do(t, http.MethodPut, path, `{"description":null,"name":"beta"}`, in.bearer())
	if _, got := serverOf(t, r); got["description"] != "" || got["name"] != "beta" || got["createdAt"] != server["createdAt"] {
		t.Errorf("updated to %v", got)
	}
}

func TestServerBodies(t *testing.T) {
	in := sharedInstance(t)
	_, server := serverOf(t, in.do(t, http.MethodPost, in.serversPath(), `{"name":"bodies","description":"kept"}`, in.bearer()))
	path := in.serversPath() + "/" + server["id"].(string)
	long := strings.Repeat("é", 101)
	for body, want := range map[string]string{
		`{}`: "invalid_request", `{"name":null}`: "invalid_request", `{"name":""}`: "invalid_request", `{"name":" \t "}`: "invalid_request",
		`{"name":"` + long + `"}`: "invalid_request", `{"name":"a\u0001b"}`: "invalid_request", `{"name":1}`: "invalid_request",
		`{"name":"a","description":"` + strings.Repeat("x", 1001) + `"}`: "invalid_request", `{"name":"a","description":5}`: "invalid_request",
		`{"name":"a","nope":1}`: "invalid_request", `{"Name":"a"}`: "invalid_request", `{"name":"a","name":"b"}`: "invalid_json",
		``: "invalid_json", `{`: "invalid_json", `[]`: "invalid_request", `null`: "invalid_request", `{"name":"a"} x`: "invalid_json",
		"{\"name\":\"\xff\"}": "invalid_json", `{"name":"a",}`: "invalid_json",
	} {
		t.Run(body[:min(len(body), 30)], func(t *testing.T) {
			r := in.do(t, http.MethodPost, in.serversPath(), body, in.bearer())
			code := errorOf(t, r).Code
			if r.status != 400 || code != want && !(strings.HasPrefix(want, "invalid_") && strings.HasPrefix(code, "invalid_")) {
				t.Errorf("%d %s, want %s", r.status, r.body, want)
			}
		})
	}
	for body, want := range map[string]int{`{"name":null}`: 400, `{"nme":"x"}`: 400, `{"name":"` + strings.Repeat("n", 100) + `"}`: 200, `{"description":"` + strings.Repeat("d", 1000) + `"}`: 200} {
		if r := in.do(t, http.MethodPut, path, body, in.bearer()); r.status != want {
			t.Errorf("PUT %.30s: %d %s", body, r.status, r.body)
		}
	}
}

func TestServerList(t *testing.T) {
	in := sharedInstance(t)
	var project struct{ ID string }
	if err := json.Unmarshal([]byte(in.cli(t, "project", "create", "list", "--json")), &project); err != nil {
		t.Fatal(err)
	}
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(in.cli(t, "token", "create", "--project", project.ID, "--json")), &token); err != nil {
		t.Fatal(err)
	}
	bearer, path := "Authorization: Bearer "+token.Token, "/api/developer/projects/"+project.ID+"/servers"
	if r := in.do(t, http.MethodGet, path, "", bearer); r.body != `{"servers":[]}` {
		t.Errorf("an empty project lists %s", r.body)
	}
	var want []string
	for i := range 5 {
		_, s := serverOf(t, in.do(t, http.MethodPost, path, fmt.Sprintf(`{"name":"s%d"}`, i), bearer))
		want = append(want, s["id"].(string))
	}
	all, _ := listed(t, in.do(t, http.MethodGet, path, "", bearer))
	if strings.Join(all, ",") != strings.Join(want, ",") {
		t.Errorf("listed %v, want %v", all, want)
	}
	var paged []string
	next := path + "?limit=2"
	for pages := 0; next != ""; pages++ {
		if pages > 3 {
			t.Fatal("the pages do not end")
		}
		ids, link := listed(t, in.do(t, http.MethodGet, next, "", bearer))
		paged = append(paged, ids...)
		next = link
	}
	if strings.Join(paged, ",") != strings.Join(want, ",") {
		t.Errorf("paged %v, want %v", paged, want)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=x", "?cursor=nope", "?limit=1&limit=2"} {
		if r := in.do(t, http.MethodGet, path+query, "", bearer); r.status != 400 || errorOf(t, r).Code != "invalid_request" {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

// listed gives the ids of a list, and the path of the next page.
func listed(t *testing.T, r reply) (ids []string, next string) {
	t.Helper()
	var body struct {
		Servers []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, s := range body.Servers {
		ids = append(ids, s.ID)
	}
	if m := regexp.MustCompile(`^<([^>]+)>; rel="next"$`).FindStringSubmatch(r.header.Get("Link")); m != nil {
		next = m[1]
		if i := strings.Index(next, "/api/"); i > 0 {
			next = next[i:]
		}
	}
	return ids, next
}

// told is the error of a reply.
type told struct {
	Code, Message, RequestID, SQLState, Constraint, Hint string
	Position                                             int
	Retryable                                            bool
}

func errorOf(t testing.TB, r reply) told {
	t.Helper()
	var body struct{ Error told }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return body.Error
}
