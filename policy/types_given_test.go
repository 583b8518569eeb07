package policy_test

import (
	"slices"
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

// TestCheckTypes gives a statement other types than it was decided with.
func TestCheckTypes(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	a := p.Decide("SELECT id FROM files WHERE id = $1 AND size_bytes = $2", policy.Postgres, 705, 20, 0).Approved
	if !slices.Equal(a.Types(), policy.GivenTypes{0, 20}) {
		t.Errorf("%v", a.Types())
	}
	for _, same := range [][]uint32{{0, 20}, {705, 20}, {0, 20, 0, 705}} {
		if reason := a.CheckTypes(same); reason != nil {
			t.Errorf("%v: %+v", same, reason)
		}
	}
	for _, other := range [][]uint32{nil, {0}, {0, 23}, {25, 20}, {0, 20, 25}} {
		if reason := a.CheckTypes(other); reason == nil || reason.Code != policy.TypeNotAllowed {
			t.Errorf("%v: %+v", other, reason)
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
	if d := p.Decide("SELECT 1", policy.Postgres, types...); d.Reason.Code != policy.ArgumentCount {
		t.Errorf("%+v", d.Reason)
	}
	if d := p.Decide("SELECT 1", policy.Postgres, types[:1000]...); d.Verdict != policy.Allow || d.Approved.NumArgs() != 1000 {
		t.Errorf("%+v", d.Reason)
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
