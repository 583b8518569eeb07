package proxy

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestPlansAreOfADialect asks for one text in both: what was decided for the one must not be
// taken for the other.
func TestPlansAreOfADialect(t *testing.T) {
	b := newBench(t, policy.Limits{})
	wire := Subject{Frontend: "wire", Dialect: policy.Postgres}
	for range 2 {
		if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Check(t.Context(), wire, reads); codeOf(err) != policy.SyntaxError {
			t.Fatal(err)
		}
	}
	if b.recorder.of("plan hit") != 2 || b.recorder.of("plan miss") != 2 {
		t.Errorf("%v", b.recorder.counts)
	}
}
