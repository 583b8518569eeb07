package proxy

import (
	"slices"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestPlansAreOfADialect asks for one text in both: what was decided for the one must not be
// taken for the other.
func TestPlansAreOfADialect(t *testing.T) {
	b := newBench(t, policy.Limits{})
	wire := Subject{Frontend: "wire", Dialect: policy.Postgres}
	for range 3 {
		if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Check(t.Context(), wire, reads); codeOf(err) != policy.SyntaxError {
			t.Fatal(err)
		}
	}
	if b.recorder.of("plan hit") != 3 || b.recorder.of("plan miss") != 3 {
		t.Errorf("%v", b.recorder.counts)
	}
}

// TestPlansAreOfTypes decides one text with and without types of its parameters.
func TestPlansAreOfTypes(t *testing.T) {
	b := newBench(t, policy.Limits{})
	const text = "SELECT id FROM notes WHERE server_id = $1 AND id = $2"
	s := Subject{Dialect: policy.Postgres}
	plain, err := b.Check(t.Context(), s, text)
	if err != nil {
		t.Fatal(err)
	}
	s.Types = policy.GivenTypes{0, 25}
	for range 2 {
		typed, err := b.Check(t.Context(), s, text)
		if codeOf(err) != policy.TypeNotAllowed && (err != nil || typed == plain || !slices.Contains(typed.Declared(), 25)) {
			t.Fatal(err)
		}
	}
	if b.recorder.of("plan hit") != 1 || b.recorder.of("plan miss") != 2 {
		t.Errorf("%v", b.recorder.counts)
	}
	s.Types = make(policy.GivenTypes, 1001)
	if _, err := b.Check(t.Context(), s, text); codeOf(err) != policy.ArgumentCount || b.recorder.of("plan miss") != 2 {
		t.Errorf("%v, %v", err, b.recorder.counts)
	}
}
