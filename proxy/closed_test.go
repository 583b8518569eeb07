package proxy

import (
	"fmt"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure a table counts once for each name by which it is closed or tells, also where one name
// stands for both.
func TestFoundTables(t *testing.T) {
	all := []found{
		{table: "public.a", Finding: policy.Finding{Name: "trigger", Object: "one"}},
		{table: "public.a", Finding: policy.Finding{Name: "trigger", Object: "three", Breach: true}},
		{table: "public.a", Finding: policy.Finding{Name: "trigger", Object: "two", Breach: true}},
		{table: "public.b", Finding: policy.Finding{Name: "trigger", Object: "one", Breach: true}},
	}
	if closed, telling := fmt.Sprint(tablesBy(all, true)), fmt.Sprint(tablesBy(all, false)); closed != "map[trigger:[public.a public.b]]" || telling != "map[trigger:[public.a]]" {
		t.Errorf("closed %s, telling %s", closed, telling)
	}
}

// Ensure what a policy accepts and its table does not have is known, whatever another table has.
func TestUnmatchedAcceptances(t *testing.T) {
	section := func(table string, objects ...string) policy.TableSection {
		s := policy.TableSection{TableName: policy.TableName{Schema: "public", Name: table}}
		for _, object := range objects {
			s.Accept = append(s.Accept, policy.Acceptance{Finding: "hidden-rule", Object: object, Reason: "a test"})
		}
		return s
	}
	table := func(name string, objects ...string) policy.Table {
		t := policy.Table{Schema: "public", Name: name}
		for _, object := range objects {
			t.Findings = append(t.Findings, policy.Finding{Name: "hidden-rule", Object: object})
		}
		return t
	}
	p := &Policies{config: PoliciesConfig{Files: []*policy.File{{Name: "shop", Tables: []policy.TableSection{section("a", "one", "two"), section("b", "three")}}}}}
	got := fmt.Sprint(p.unmatched(policy.Schema{Tables: []policy.Table{table("a", "one", "three"), table("b", "three")}}))
	if want := "[{shop public.a hidden-rule two}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Ensure an operator reads which of the policies do not accept a finding: those that open the
// table, and no other.
func TestFoundNamesPolicies(t *testing.T) {
	file := func(name string, access []policy.Kind, accept ...policy.Acceptance) *policy.File {
		return &policy.File{Name: name, Tables: []policy.TableSection{{TableName: policy.TableName{Schema: "public", Name: "a"}, Access: access, Accept: accept}}}
	}
	read := []policy.Kind{policy.Select}
	accepted := policy.Acceptance{Finding: "hidden-rule", Object: "soft on public.a", Reason: "a test"}
	p := &Policies{config: PoliciesConfig{Files: []*policy.File{file("one", read), file("two", read, accepted), file("three", read), file("four", nil)}}}
	schema := policy.Schema{Tables: []policy.Table{{Schema: "public", Name: "a", Findings: []policy.Finding{{Name: "hidden-rule", Object: "soft on public.a", Breach: true}}}}}
	if got, want := fmt.Sprint(linesOf(p.found(schema))), "[closed: public.a, by hidden-rule of soft on public.a; policies that do not accept it: one, three]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
