package main

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/doctor"
)

// Ensure the last line does not say that a service would serve which would not.
func TestVerdict(t *testing.T) {
	stops := []doctor.Finding{{Check: "policy-missing", Object: "public.a\n", Stops: true}, {Check: "grants-unnamed"}, {Check: "hidden-unfit", Object: "public.b.id", Stops: true}}
	const why = "; the service would not start, with rls: required or without (policy-missing of public.a?, hidden-unfit of public.b.id)"
	for want, r := range map[string]doctor.Report{
		"the wall stands for x, y: rls: required would serve them":                      {Walled: []string{"x", "y"}, Findings: stops[1:2]},
		"as far as could be seen the wall stands for x: rls: required would serve them": {Walled: []string{"x"}, Unseen: []string{"keys"}},
		"the wall does not stand for z: rls: required would serve nothing":              {Walled: []string{"x"}, Open: []string{"z"}},
		"no scoped table is there, so no wall: rls: required would serve nothing":       {},
		"the wall stands for x" + why:                                                   {Walled: []string{"x"}, Findings: stops},
		"the wall does not stand for z" + why:                                           {Open: []string{"z"}, Findings: stops},
		"no scoped table is there, so no wall" + why:                                    {Findings: stops},
	} {
		if got := verdict(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A person reads what a breach closes, how the policy accepts it, and at the end all that is closed.
func TestDiagnosisOfBreach(t *testing.T) {
	said := diagnosis(&doctor.Report{Findings: []doctor.Finding{
		{Grade: doctor.Breach, Check: "hidden-rule", Object: "soft on public.a", Table: "public.a", Lacking: []string{"one"}},
		{Grade: doctor.Breach, Check: "hidden-rule", Object: "soft on public.d", Table: "public.d", Lacking: []string{"one", "two"}},
		{Grade: doctor.Breach, Check: "wall-missing", Object: "public.b"},
		{Grade: doctor.Tell, Check: "hidden-unique", Object: "k on public.c", Table: "public.c"},
	}})
	for _, line := range []string{
		`or, once you have read it, at the table in the policy one: accept: [{finding: hidden-rule, object: "soft on public.a", reason: …}]`,
		`or, once you have read it, at the table in each of the policies one, two: accept: [{finding: hidden-rule, object: "soft on public.d", reason: …}]`,
		"not served while this is so: public.a (hidden-rule) under one; public.d (hidden-rule) under one, two\n",
	} {
		if strings.Count(said, line) != 1 {
			t.Errorf("%q is not once in\n%s", line, said)
		}
	}
	if strings.Count(said, "accept:") != 2 {
		t.Errorf("what closes nothing need not be accepted:\n%s", said)
	}
}
