package wire

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// Whoever calls beside something else what is answered here alone is told so.
func TestAnsweredAlone(t *testing.T) {
	file, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nstatement: {kinds: [select]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(file, policy.Schema{}, policy.Sets{Types: policies.Types(), Operators: policies.Operators()})
	if err != nil {
		t.Fatal(err)
	}
	calls := []string{"current_setting('TimeZone')"}
	for name, f := range functions {
		if f.call {
			calls = append(calls, name+"()")
		}
	}
	for _, call := range calls {
		if r := p.Decide("SELECT "+call+", 1", policy.Postgres).Reason; !strings.Contains(r.Hint, "is answered only in a SELECT of nothing but such calls") {
			t.Errorf("%s: %+v", call, r)
		}
	}
}
