package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
)

// watch gives what a Watch finds, as the statement role, where row-level security does not help.
func (c *clinic) watch(t *testing.T, url string, r *Report, sources ...string) (found []string) {
	t.Helper()
	w, err := NewWatch(files(t, sources...), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), pgtest.As(t, url, c.names.Replace("@role"), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "SET search_path = pg_catalog, pg_temp; SET jit = off"); err != nil {
		t.Fatal(err)
	}
	var answer []byte
	sql, args := w.Query()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	all, err := w.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	var walled []uint32
	idents := map[uint32]string{}
	rows, err := conn.Query(t.Context(), "SELECT c.oid, format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace")
	if err != nil {
		t.Fatal(err)
	}
	var oid uint32
	var ident string
	if _, err := pgx.ForEachRow(rows, []any{&oid, &ident}, func() error {
		idents[oid] = ident
		if slices.Contains(r.Walled, ident) {
			walled = append(walled, oid)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if grade := map[bool]Grade{true: Breach, false: Tell}[f.Breach]; !bound(f.Needs, walled) && f.Name != "planner-statistics" {
			found = append(found, fmt.Sprint(grade, " ", f.Name, " ", f.Object, " at ", idents[f.Table]))
		}
	}
	return found
}

// agree holds what the service finds of the tables against the report: they are judged in one
// place. Statistics that are there are for the owner to see.
func (c *clinic) agree(t *testing.T, url string, r *Report, sources []string) {
	t.Helper()
	if len(sources) == 0 {
		sources = []string{shop}
	}
	var want []string
	for _, f := range r.Findings {
		if f.alone {
			return
		}
		if slices.Contains(Watched(), f.Check) && f.Check != "planner-statistics" && (f.Grade == Breach || f.Grade == Tell) {
			want = append(want, fmt.Sprint(f.Grade, " ", f.Check, " ", f.Object, " at ", f.Table))
		}
	}
	got := c.watch(t, url, r, sources...)
	slices.Sort(got)
	slices.Sort(want)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("while serving it finds\n%s\nand doctor\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Ensure what a policy accepts and nothing is found of is said, once for each, and what is found is not.
func TestUnmatchedAcceptance(t *testing.T) {
	accepting := policy.TableSection{TableName: policy.TableName{Schema: "public", Name: "items"}, Accept: []policy.Acceptance{
		{Finding: "hidden-rule", Object: "copy on public.items"}, {Finding: "hidden-rule", Object: "copied on public.items"},
	}}
	files := []*policy.File{{Name: "shop", Tables: []policy.TableSection{accepting}}}
	n := &named{Tables: []*table{{Schema: "public", Name: "items", ident: "public.items"}}}
	r := &Report{Findings: []Finding{{Grade: Breach, Check: "hidden-rule", Object: "copy on public.items", Table: "public.items"}}}
	if notes := r.unmatched(files, n); len(notes) != 1 || notes[0].Grade != Note || notes[0].Object != "copied on public.items" {
		t.Errorf("got %+v", notes)
	}
	r.Findings[0].Table = "public.others"
	if notes := r.unmatched(files, n); len(notes) != 2 {
		t.Errorf("another table's finding counts: %+v", notes)
	}
	for i, want := range []string{"which is a risk", "which is a risk", "no breach or tell has that name"} {
		r.Findings = []Finding{{Grade: Risk, Check: "hidden-rule", Object: "copy on public.items", Table: []string{"public.items", ""}[i%2]}}
		if i == 2 {
			r.Findings[0].Object = "another"
		}
		if notes := r.unmatched(files, n); len(notes) != 2 || !strings.Contains(notes[0].Says, want) {
			t.Errorf("a risk: no %q in %+v", want, notes)
		}
	}
	r.Findings = append(r.Findings, Finding{alone: true})
	if notes := r.unmatched(files, n); notes != nil {
		t.Errorf("nothing was judged, and it says %+v", notes)
	}
}

// Ensure that what every policy which opens a table accepts is a note, and out of the script.
func TestAccepted(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, `CREATE RULE copy AS ON DELETE TO items DO ALSO DELETE FROM unnamed`)
	accepting := strings.Replace(shop, "items: {scoped: true", "items: {accept: [{finding: hidden-rule, object: copy on public.items, reason: a test}], scoped: true", 1)
	second := func(text string) string { return strings.Replace(text, "name: shop", "name: second", 1) }
	for _, s := range []struct {
		policies []string
		want     string
		lacking  string
		instead  string
	}{
		{[]string{shop}, "breach hidden-rule copy on public.items", "shop", ""},
		{[]string{accepting}, "note hidden-rule copy on public.items", "", "by the policy shop: a test"},
		{[]string{accepting, second(shop)}, "breach hidden-rule copy on public.items", "second", "by the policy shop: a test; but not by second: each policy that opens the table has to accept it"},
		{[]string{accepting, second(accepting)}, "note hidden-rule copy on public.items", "", "by the policy shop: a test; by the policy second: a test"},
		{[]string{accepting, second(strings.Replace(shop, "items: {", "items: {access: [], ", 1))}, "note hidden-rule copy on public.items", "", "by the policy shop: a test"},
	} {
		r := c.examine(t, url, s.policies...)
		if got := list(r.Findings); got != s.want {
			t.Errorf("%s, want %s", got, s.want)
		}
		if accepted := strings.HasPrefix(s.want, "note"); accepted != r.Sound() || accepted == strings.Contains(r.Script(), "DROP RULE") || !strings.Contains(r.Findings[0].Instead, s.instead) {
			t.Errorf("%s: %+v", s.want, r.Findings)
		}
		if got := strings.Join(r.Findings[0].Lacking, " "); got != s.lacking {
			t.Errorf("%s: not accepted by %q, want %q", s.want, got, s.lacking)
		}
	}
}

// Ensure that a misspelt finding is an error at its table, which lists the names there are.
func TestCheckAccepted(t *testing.T) {
	for name, fits := range map[string]bool{"hidden-rule": true, "planner-index": true, "hiden-rule": false, "wall-missing": false} {
		f, err := policy.Parse([]byte(strings.Replace(shop, "items: {scoped: true", "items: {accept: [{finding: "+name+", object: o, reason: a test}], scoped: true", 1)))
		if err != nil {
			t.Fatal(err)
		}
		err = CheckAccepted(f)
		if fits != (err == nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if fits {
			continue
		}
		mistake := (*policy.FileError)(nil)
		at := f.Tables[slices.IndexFunc(f.Tables, func(t policy.TableSection) bool { return t.Name == "items" })].At
		if !errors.As(err, &mistake) || mistake.Position != at || !strings.Contains(mistake.Message, strconv.Quote(name)) {
			t.Errorf("%s: %v", name, err)
		}
		for _, known := range Watched() {
			if !strings.Contains(mistake.Message, known) {
				t.Errorf("%s is not listed: %v", known, err)
			}
		}
	}
}
