package plans

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tenantgate/tenantgate/policy"
)

// corpus is where the honest statements are, which are written for a server of seed.sql.
const (
	corpus     = "../../cmd/tenantgate/testdata/honest/"
	writtenFor = "srv-a"
)

// statement is one as an application sends it, for a built-in policy.
type statement struct {
	Name   string `yaml:"name"`
	SQL    string `yaml:"sql"`
	Args   []any  `yaml:"args"`
	policy string
}

// statements are those of the corpus and the typical ones, reads before writes.
func statements(t *testing.T) (all []statement) {
	t.Helper()
	paths, err := filepath.Glob(corpus + "*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no honest statements", err)
	}
	var writes []statement
	for _, path := range append(paths, "testdata/typical.yaml") {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var list []statement
		if err := yaml.Unmarshal(src, &list); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		file := strings.TrimSuffix(filepath.Base(path), ".yaml")
		for _, st := range list {
			st.Name, st.policy = file+"/"+st.Name, "default"
			if file == "inject" || file == "typical" {
				st.policy = "inject"
			}
			if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(st.SQL)), "SELECT") {
				all = append(all, st)
			} else {
				writes = append(writes, st)
			}
		}
	}
	return append(all, writes...)
}

// seeds give the rows that the corpus was written on to each measured server.
func seeds(t *testing.T) (all []string) {
	t.Helper()
	src, err := os.ReadFile(corpus + "seed.sql")
	if err != nil {
		t.Fatal(err)
	}
	own, _, found := strings.Cut(string(src), "-- srv-b\n")
	if !found {
		t.Fatal("seed.sql has no second half")
	}
	for _, m := range measured {
		all = append(all, strings.ReplaceAll(own, writtenFor, m.id))
	}
	return all
}

// bind gives the statement as a policy sends it for a server.
func (st statement) bind(t *testing.T, p *policy.Policy, server string) policy.Bound {
	t.Helper()
	d := p.Decide(strings.ReplaceAll(strings.TrimSpace(st.SQL), writtenFor, server), policy.REST)
	if d.Verdict != policy.Allow {
		t.Fatalf("%s is refused: %+v", st.Name, d.Refusal)
	}
	b, reason := d.Approved.Bind(server, argsOf(st.Args, server))
	if reason != nil {
		t.Fatalf("%s: %+v", st.Name, *reason)
	}
	return b
}

func argsOf(values []any, server string) []policy.Arg {
	args := make([]policy.Arg, len(values))
	for i, v := range values {
		src, _ := json.Marshal(v) // what YAML gave, JSON has
		text := strings.ReplaceAll(string(src), writtenFor, server)
		args[i] = policy.Arg{Kind: policy.Number, Text: text}
		switch x := v.(type) {
		case nil:
			args[i] = policy.Arg{}
		case string:
			args[i] = policy.Arg{Kind: policy.String, Text: strings.ReplaceAll(x, writtenFor, server)}
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

// wire is an argument in Postgres' text format: an array of JSON is one of Postgres' where json
// is not asked for.
func wire(a policy.Arg, json bool) []byte {
	switch {
	case a.Kind == policy.Null:
		return nil
	case a.Kind == policy.Array && !json:
		return []byte(arrayOf(a.Text))
	}
	return []byte(a.Text)
}

// arrayOf turns the brackets of a JSON array outside its strings into Postgres' braces.
func arrayOf(text string) string {
	quoted, escaped := false, false
	return strings.Map(func(r rune) rune {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && r == '[':
			return '{'
		case !quoted && r == ']':
			return '}'
		}
		return r
	}, text)
}
