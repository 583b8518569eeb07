package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// texts gives the statements of the golden files, to start from.
func texts(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/decide/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden files", err)
	}
	var out []string
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(src), "\n\n") {
			_, rest, ok := strings.Cut(block, "decide")
			text, _, found := strings.Cut(rest, "\n----")
			if _, sql, sep := strings.Cut(text, "\n"); ok && found && sep {
				out = append(out, sql)
			}
		}
	}
	return out
}

// TestRewrittenAgain decides what was rewritten: it must be admitted again where the
// scope condition is not asked for, name no new table, and read no more than before.
func TestRewrittenAgain(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	seen := 0
	for _, text := range texts(t) {
		d := p.Decide(text, policy.REST)
		if d.Verdict != policy.Allow || strings.Contains(text, "??") { // whose ? reads as a placeholder
			continue
		}
		seen++
		if again := p.Decide(d.Approved.Rewritten(), policy.REST); again.Verdict != policy.Allow {
			t.Errorf("%s\nbecame\n%s\nwhich is refused: %+v", text, d.Approved.Rewritten(), again.Refusal)
		}
	}
	if seen < 50 {
		t.Errorf("only %d texts were admitted", seen)
	}
}

// TestUntouched shows that a statement without tables is sent as it came.
func TestUntouched(t *testing.T) {
	p := compile(t, "default", readSchema(t))
	for _, text := range []string{"SELECT 1", "SELECT /* a */ lower('É') -- b", "VALUES (1, 'a;b'), (2, $$?$$)"} {
		d := p.Decide(text, policy.REST)
		if d.Verdict != policy.Allow || d.Approved.Rewritten() != text {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// TestZero shows that zero values deny.
func TestZero(t *testing.T) {
	if d := (&policy.Policy{}).Decide("SELECT 1", policy.REST); d.Verdict != policy.Deny || d.Approved != nil {
		t.Errorf("the zero policy: %+v", d)
	}
	if (policy.Decision{}).Verdict != policy.Deny {
		t.Error("the zero decision allows")
	}
	for _, a := range []*policy.Approved{nil, {}} {
		if b, reason := a.Bind("srv-a", nil); reason == nil || b.Valid() {
			t.Errorf("%+v binds", a)
		}
	}
	if (policy.Bound{}).Valid() {
		t.Error("the zero bound is valid")
	}
}

// binds looks for the number of arguments that an approved text takes. Whatever stands for
// the server's id must then carry it; the parameters that do are given.
func binds(t *testing.T, text string, a *policy.Approved) (server map[int32]bool) {
	t.Helper()
	if len(a.Rewritten()) == 0 {
		t.Fatal("an empty text was approved")
	}
	id := "srv-a"
	var args []policy.Arg
	for len(args) <= 1000 {
		bound, reason := a.Bind(id, args)
		switch {
		case reason == nil:
			return serverParams(t, text, bound, id, len(args))
		case reason.Code == policy.ArgumentCount:
			args = append(args, policy.Arg{Kind: policy.String, Text: id})
		case reason.SQLState == "22P02" && id == "srv-a": // which is no uuid
			id = "5a0c1f0e-0000-4000-8000-000000000001"
			args = nil
		case reason.Code == policy.ForeignServerID || reason.SQLState == "22P02": // the text's own constant
			return nil
		default:
			t.Fatalf("%q: %+v", text, reason)
		}
	}
	if !strings.Contains(a.Rewritten(), "$1000") {
		t.Fatalf("%q takes no number of arguments", text)
	}
	return nil
}

func serverParams(t *testing.T, text string, bound policy.Bound, id string, args int) map[int32]bool {
	t.Helper()
	server := map[int32]bool{}
	for i, p := range bound.Params() {
		if p.Index >= args || p.Index < 0 && !p.IsLiteral() && p.Value.Text != id {
			t.Fatalf("%q: %+v", text, p)
		}
		server[int32(i)+1] = p.Index < 0 && !p.IsLiteral()
	}
	return server
}
