package policies_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Whoever pastes the policy of the README has one that allows something.
func TestReadmePolicy(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\napiVersion")
	text, _, _ = strings.Cut(text, "```")
	f, err := policy.Parse([]byte("apiVersion" + text))
	if err != nil || len(f.Statement.Kinds) == 0 || len(f.Tables) == 0 {
		t.Errorf("%v, %+v", err, f)
	}
}
