package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestArgType asks for the types that Postgres can't tell.
func TestArgType(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	a := p.Decide("INSERT INTO files (server_id, name) VALUES ($1, $3)", policy.Postgres, 0, 0, 0, 20).Approved
	if a == nil || a.NumArgs() != 4 {
		t.Fatalf("%+v", a)
	}
	for i, want := range []uint32{25, 0, 0, 20} {
		if got := a.ArgType(i); got != want {
			t.Errorf("arg %d is of type %d, want %d", i, got, want)
		}
	}
	shop := compile(t, "shop", readSchema(t)).Decide("SELECT id FROM shop.orders WHERE tenant = $1", policy.Postgres).Approved
	if got := shop.ArgType(0); got != 2950 {
		t.Errorf("a uuid is of type %d", got)
	}
	again := p.Decide("INSERT INTO files (server_id, name) VALUES ($1, $1)", policy.Postgres).Approved
	if got := again.ArgType(0); got != 0 {
		t.Errorf("an arg that a parameter carries is of type %d", got)
	}
}

// TestDeclared gives a statement's parameters types, whose unknown ones say nothing.
func TestDeclared(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for _, text := range []string{
		"SELECT id FROM files WHERE id = $1 AND size_bytes = $2", "SELECT id FROM files WHERE size_bytes = $2",
		"DECLARE c CURSOR FOR SELECT id FROM files WHERE size_bytes = $2",
	} {
		a := p.Decide(text, policy.Postgres, 705, 20, 0).Approved
		declared := a.Declared()
		for i := range a.NumParams() {
			if want := map[int]uint32{1: 20}[a.ArgOf(i)]; declared[i] != want {
				t.Errorf("%s: parameter %d is of type %d, want %d", text, i+1, declared[i], want)
			}
		}
	}
}

// TestTooManyTypes gives more types than a statement may have arguments.
func TestTooManyTypes(t *testing.T) {
	types := make([]uint32, 1001)
	for i := range types {
		types[i] = 25
	}
	p := compile(t, "inject", readSchema(t))
	if d := p.Decide("SELECT 1", policy.Postgres, types...); d.Refusal.Code != policy.ArgumentCount {
		t.Errorf("%+v", d.Refusal)
	}
	if d := p.Decide("SELECT 1", policy.Postgres, types[:1000]...); d.Verdict != policy.Allow || d.Approved.NumArgs() != 1000 {
		t.Errorf("%+v", d.Refusal)
	}
}

// TestTypesKey has one key for types that mean the same, and another for each that differs.
func TestTypesKey(t *testing.T) {
	for _, none := range []policy.GivenTypes{nil, {0}, {705, 0}} {
		if none.Key() != "" {
			t.Errorf("%v: %q", none, none.Key())
		}
	}
	if (policy.GivenTypes{705, 25}).Key() != (policy.GivenTypes{0, 25, 0}).Key() || (policy.GivenTypes{25}).Key() == (policy.GivenTypes{0, 25}).Key() {
		t.Error("keys do not tell types apart, or tell apart what means the same")
	}
}
