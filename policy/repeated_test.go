package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure a statement can't make a value of its arguments that is too large for Postgres.
func TestRepeated(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	mebibyte := policy.Arg{Kind: policy.String, Text: strings.Repeat("a", 1<<20)}
	for _, c := range []struct {
		text    string
		refused bool
	}{
		{"SELECT id FROM files WHERE name IN ($1" + strings.Repeat(", $1", 128) + ")", false},
		{"SELECT id FROM files WHERE name IN ($1" + strings.Repeat(", $1", 129) + ")", true},
	} {
		a := p.Decide(c.text, policy.Postgres).Approved
		if a == nil {
			t.Fatalf("%.60s is refused", c.text)
		}
		_, refusal := a.Bind("srv-a", []policy.Arg{mebibyte})
		if tooLarge := refusal != nil && refusal.SQLState == "54000"; tooLarge != c.refused {
			t.Errorf("%.60s: %v", c.text, refusal)
		}
	}
}
