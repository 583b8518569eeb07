package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// Ensure a decision counts once for each server, however many of its statements hold it.
func TestSharedDecisions(t *testing.T) {
	w := greeted(t)
	l := w.with(1 << 20)
	approved, err := w.gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, all)
	if err != nil {
		t.Fatal(err)
	}
	w.gate.forgets = true
	clear(w.gate.kept)
	another, _ := w.gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, all)
	next, _ := greeted(t).gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, all) // of the policy, compiled anew
	size := sharedSize + len(all) + approved.Size()
	a, b := proxy.Account{Server: "a"}, proxy.Account{Server: "b"}
	one, second, other := keepingOf(l, a), keepingOf(l, a), keepingOf(l, b)
	own, again, same := planned(all, approved), planned(all, another), planned(all, approved)
	is := func(want int) {
		t.Helper()
		if n := l.taken(); n != want {
			t.Errorf("%d bytes are counted, not %d", n, want)
		}
	}
	if one.keep(own) != nil || second.keep(again) != nil {
		t.Error("there is no room")
	}
	if again.approved.Approved != approved {
		t.Error("one decision counts, and two are held")
	}
	is(size + 2*keptStep)
	if other.keep(same) != nil {
		t.Error("there is no room for another server's")
	}
	is(2*size + 3*keptStep)
	one.drop(own)
	is(2*size + 2*keptStep)
	second.drop(again)
	is(size + keptStep)
	before, after := sharer{b, approved.Origin(), "", all}, sharer{b, next.Origin(), "", all}
	if other.renew(same, next) != nil || l.shared[before] != nil || l.shared[after] == nil || same.approved.Approved != next {
		t.Error("the decision of before is held")
	}
	typed := planned(all, next)
	typed.approved.Types = []uint32{25}
	if other.keep(typed) != nil || typed.held == same.held {
		t.Error("a text with other types of parameters is the same decision")
	}
	other.drop(typed)
	other.drop(same)
	w.nothingKept(l)
}

// Ensure a statement is not described by what was said of a decision on another text, and is after the same text was compiled anew.
func TestOutdatedDescription(t *testing.T) {
	w := greeted(t)
	check := func(w *sitting, text string) *policy.Approved {
		approved, err := w.gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, text)
		if err != nil {
			t.Fatal(err)
		}
		return approved
	}
	one, first := keepingOf(w.with(1<<20), proxy.Account{Server: "a"}), check(w, all)
	own := planned(all, first)
	if err := one.keep(own); err != nil {
		t.Fatal(err)
	}
	own.approved.Told.Said = &frame.Description{}
	for i, next := range []struct {
		approved *policy.Approved
		outdated bool
	}{{check(greeted(t), all), false}, {check(w, all+" WHERE id = 'a'"), true}, {first, true}} {
		if err := one.renew(own, next.approved); err != nil || own.approved.Told.Said == nil || own.approved.Told.Outdated != next.outdated {
			t.Errorf("decision %d: %v, outdated: %v", i, err, own.approved.Told.Outdated)
		}
	}
	one.drop(own)
}

// Ensure a statement keeps its decision where there is no room for another policy's.
func TestRenewedWithoutRoom(t *testing.T) {
	w := greeted(t)
	approved, err := w.gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, all)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := greeted(t).gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, all)
	l := w.with(sharedSize + len(all) + approved.Size() + 2*keptStep)
	one, own := keepingOf(l, proxy.Account{Server: "a"}), planned(all, approved)
	if err := one.keep(own); err != nil {
		t.Fatal(err)
	}
	if one.renew(own, next) == nil || own.approved.Approved != approved {
		t.Error("a decision that found no room is run")
	}
	one.drop(own)
	w.nothingKept(l)
}

// keepingOf is of a client of an account that keeps as much as is free.
func keepingOf(l *ledger, a proxy.Account) *keeping {
	return &keeping{of: l, account: a, bytes: freeKept}
}

// Ensure a server is charged for what its own clients hold, whoever else holds the same.
func TestNobodyIsChargedForOthers(t *testing.T) {
	w := greeted(t)
	l := w.with(1 << 20)
	first, other := keepingOf(l, proxy.Account{Project: "p", Server: "a"}), keepingOf(l, proxy.Account{Project: "q", Server: "b"})
	var others []*statement
	for i := range 500 {
		text := fmt.Sprintf("SELECT id FROM messages LIMIT %d -- %s", i+1, strings.Repeat("x", 3000))
		approved, err := w.gate.Check(t.Context(), proxy.Subject{Dialect: policy.Postgres}, text)
		if err != nil {
			t.Fatal(err)
		}
		mine, same := planned(text, approved), planned(text, approved)
		if err := first.keep(mine); err != nil {
			t.Fatalf("statement %d of who holds no other: %v", i, err)
		}
		if other.keep(same) == nil {
			others = append(others, same)
		}
		first.drop(mine)
	}
	if len(others) < 50 || len(others) == 500 {
		t.Errorf("the other server holds %d", len(others))
	}
	for _, of := range others[20:] {
		other.drop(of)
	}
	if err := l.reserve(first.account, proxy.Share(1<<20)); err != nil { // all that a server may have
		t.Errorf("who holds nothing is charged: %v", err)
	}
	l.release(first.account, proxy.Share(1<<20))
	for _, of := range others[:20] {
		other.drop(of)
	}
	w.nothingKept(l)
}

// planned is a statement with a text of its own.
func planned(text string, approved *policy.Approved) *statement {
	return &statement{name: "s", text: strings.Clone(text), approved: &proxy.Prepared{Approved: approved}}
}
