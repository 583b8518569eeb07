package main

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tenantgate/tenantgate"

// arrows are the imports of our own packages that the layout allows; what is not here
// imports none. proxy/upstream may import proxy for the interface's errors: what
// Postgres said becomes one of them there.
var arrows = map[string][]string{
	"cmd/tenantgate":          {"*"},
	"proxy/rest":              {"proxy", "policy", "proxy/rest/apidoc"},
	"proxy/wire":              {"proxy", "proxy/frame", "policy"},
	"proxy/upstream":          {"proxy", "proxy/frame", "proxy/upstream/values", "policy", "wall"},
	"proxy/upstream/values":   {"proxy/frame", "policy"},
	"control":                 {"proxy", "policy", "wall"},
	"doctor":                  {"policy", "wall"},
	"control/embedded/pgtest": {"control/embedded"},
	"proxy":                   {"policy", "proxy/frame"},
	"policy":                  {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree", "policy/sql/facts", "policy/sql/analyze", "policy/sql/rewrite", "policy/sql/verify", "policy/sql/command", "policy/sql/constants"},
	"policy/sql/lex":          {"policy/sql/refusal"},
	"policy/sql/tree":         {"policy/sql/refusal", "policy/sql/lex"},
	"policy/sql/facts":        {"policy/sql/tree"},
	"policy/sql/types":        {"policy/sql/lex", "policy/sql/tree"},
	"policy/sql/fence":        {"policy/sql/refusal", "policy/sql/tree", "policy/sql/facts", "policy/sql/types"},
	"policy/sql/hide":         {"policy/sql/refusal", "policy/sql/tree", "policy/sql/facts", "policy/sql/types"},
	"policy/sql/analyze":      {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree", "policy/sql/facts", "policy/sql/types", "policy/sql/fence", "policy/sql/hide"},
	"policy/sql/rewrite":      {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree", "policy/sql/facts"},
	"policy/sql/verify":       {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree", "policy/sql/facts"}, // neither the analysis, the barrier's judgement nor the rewrite
	"policy/sql/command":      {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree"},
	"policy/sql/constants":    {"policy/sql/refusal", "policy/sql/lex", "policy/sql/tree"},
	"policy/sql/treetest":     {"policy/sql/tree"},
	"policies":                {"policy"},
	"policies/gen":            {"policies/internal/builtin", "control/embedded"},
	"proxy/proxytest":         {"proxy"},
	"proxy/rest/resttest":     {"proxy", "proxy/rest"},
	"proof":                   {"proof/statement", "control", "policies", "policy", "proxy", "proxy/upstream", "proxy/wire", "wall"},
	"proof/bench":             {"control", "control/embedded", "proxy", "wall"},
	"proof/smith":             {"policy"},
	"proof/statement":         {"policy"},
}

// owners are the libraries that only some packages may import.
var owners = map[string][]string{
	"github.com/valyala/fasthttp":      {"proxy/rest", "proof/bench"},
	"github.com/fasthttp/router":       {"proxy/rest"},
	"github.com/jackc/pgx/v5/pgproto3": {"proxy/upstream", "proxy/wire", "proof", "proof/bench"},
	"github.com/prometheus":            {"metrics"},
	"github.com/pganalyze/pg_query_go": {"policy/sql/tree", "policy/sql/facts", "policy/sql/types", "policy/sql/fence", "policy/sql/hide", "policy/sql/analyze", "policy/sql/rewrite", "policy/sql/verify", "policy/sql/command", "policy/sql/constants"},
}

// impure are packages that nothing below policy may import: a decision has no I/O and no time.
var impure = []string{"os", "net", "net/http", "context", "log", "log/slog", "time/tzdata", "math/rand", "math/rand/v2", "crypto/rand", "io/fs", "syscall", "sync"}

// TestImports fails when an import breaks the arrows of the layout.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 10 {
		t.Fatalf("only %d packages were listed", len(lines))
	}
	for _, line := range lines {
		name, imports, _ := strings.Cut(line, ": ")
		pkg := strings.TrimPrefix(name, module+"/")
		for _, imported := range strings.Fields(imports) {
			checkArrow(t, pkg, imported)
			checkOwner(t, pkg, imported)
			if strings.HasPrefix(pkg+"/", "policy/") && slices.Contains(impure, imported) {
				t.Errorf("%s imports %s: policy is pure", pkg, imported)
			}
		}
	}
}

func checkArrow(t *testing.T, pkg, imported string) {
	ours, ok := strings.CutPrefix(imported, module+"/")
	if ok && !slices.Contains(arrows[pkg], ours) && !slices.Contains(arrows[pkg], "*") {
		t.Errorf("%s imports %s: the layout has no such arrow", pkg, ours)
	}
}

func checkOwner(t *testing.T, pkg, imported string) {
	for library, allowed := range owners {
		if (imported == library || strings.HasPrefix(imported, library+"/")) && !slices.Contains(allowed, pkg) {
			t.Errorf("%s imports %s, which belongs to %s", pkg, path.Base(library), strings.Join(allowed, ", "))
		}
	}
}
