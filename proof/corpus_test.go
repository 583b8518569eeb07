package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// writtenFor is the server that the hand-written statements name.
const writtenFor = "srv-a"

// written gives the hand-written statements of the repository for a server: the honest
// corpus and, where an engine reads them first, the golden cases of package policy, most
// of which must never reach a database that somebody may do everything on.
func written(t *testing.T, walls Walls, server string) []statement.Statement {
	t.Helper()
	if walls == All || walls == Engine || walls == Listener {
		return append(golden(t, server), honest(t, server)...)
	}
	return honest(t, server)
}

func golden(t *testing.T, server string) (all []statement.Statement) {
	t.Helper()
	paths, err := filepath.Glob("../policy/testdata/decide/*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden cases", err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split("\n"+string(src), "\ndecide")[1:] {
			head, text, _ := strings.Cut(block, "\n")
			text, _, found := strings.Cut(text, "\n----")
			if !found || strings.TrimSpace(text) == "" {
				continue
			}
			var args []any
			if _, list, given := strings.Cut(head, "args="); given {
				_ = json.Unmarshal([]byte(strings.Trim(list, "() ")), &args) // what is no JSON is another test's
			}
			all = append(all, statement.Lex(text, argsOf(args), writtenFor, server))
		}
	}
	return all
}

func honest(t *testing.T, server string) (all []statement.Statement) {
	t.Helper()
	paths, err := filepath.Glob("../cmd/tenantgate/testdata/honest/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no honest cases", err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			SQL  string `yaml:"sql"`
			Args []any  `yaml:"args"`
		}
		if err := yaml.Unmarshal(src, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			all = append(all, statement.Lex(c.SQL, argsOf(c.Args), writtenFor, server))
		}
	}
	return all
}

func argsOf(values []any) []policy.Arg {
	args := make([]policy.Arg, len(values))
	for i, v := range values {
		src, _ := json.Marshal(v)
		args[i] = policy.Arg{Kind: policy.Number, Text: string(src)}
		switch x := v.(type) {
		case nil:
			args[i] = policy.Arg{}
		case string:
			args[i] = policy.Arg{Kind: policy.String, Text: x}
		case bool:
			args[i] = policy.Arg{Kind: policy.Bool, Text: strconv.FormatBool(x)}
		case []any:
			args[i].Kind = policy.Array
		case map[string]any:
			args[i].Kind = policy.Object
		}
	}
	return args
}
