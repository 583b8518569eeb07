package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var testSets = map[string][]string{"@builtin-safe": {"count", "lower", "upper"}, "@builtin-sleep": {"pg_sleep"}}

// load does what a start of the service does with a file before it looks at a database.
func load(src []byte) error {
	f, err := Parse(src)
	if err != nil {
		return err
	}
	_, err = f.AllowedFunctions(testSets)
	return err
}

// Each file in testdata/invalid holds one mistake, and its first line the start of the
// message that it must get.
func TestInvalidFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(src), "\n")
			want, ok := strings.CutPrefix(first, "# want: ")
			if !ok {
				t.Fatalf("the first line is %q", first)
			}
			checkMistake(t, load(src), want)
		})
	}
}

func checkMistake(t *testing.T, err error, want string) {
	t.Helper()
	var mistake *FileError
	switch {
	case err == nil:
		t.Fatal("was accepted")
	case !errors.As(err, &mistake):
		t.Fatalf("is a %T: %v", err, err)
	case !strings.HasPrefix(err.Error(), want):
		t.Errorf("got  %s\nwant %s", err, want)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("the message has several lines: %q", err)
	}
}

// Ensure that what can't stand in a readable file is refused too.
func TestInvalidBytes(t *testing.T) {
	head := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: p}\n"
	for name, c := range map[string]struct{ src, want string }{
		"nothing":           {"", "line 1, column 1: the file is empty"},
		"nul":               {head + "mode: enf\x00orce\n", "line 4, column 10: the file holds a NUL character"},
		"nul after crlf":    {"é: 1\r\né\x00", "line 2, column 2: the file holds a NUL character"},
		"latin-1":           {head + "mode: \xe9nforce\n", "line 4, column 7: the file is not UTF-8 here"},
		"too large":         {head + strings.Repeat("# comment\n", 110_000), "line 1, column 1: the file is larger than 1 MB"},
		"too many tokens":   {head + strings.Repeat("a: b\n", 34_000), "line 33333, column 1: the file holds more than a policy can"},
		"deep across lines": {head + "tables: " + strings.Repeat("{a:\n", 40) + strings.Repeat("}", 40), "line 36, column 1: the file is nested too deep"},
	} {
		t.Run(name, func(t *testing.T) { checkMistake(t, load([]byte(c.src)), c.want) })
	}
}

func TestExcerptPointsAtTheMistake(t *testing.T) {
	_, err := Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: p}\ntables:\n  é: {scope: true}\nmode: enforce\nlimits: {}\n"))
	var mistake *FileError
	if !errors.As(err, &mistake) {
		t.Fatal(err)
	}
	want := "     3 | metadata: {name: p}\n" +
		"     4 | tables:\n" +
		">    5 |   é: {scope: true}\n" +
		"       |       ^\n" +
		"     6 | mode: enforce\n"
	if diff := cmp.Diff(want, mistake.Excerpt); diff != "" {
		t.Error(diff)
	}
}

// Ensure that a hostile line neither moves the mark nor fills a log.
func TestExcerptIsCut(t *testing.T) {
	_, err := Parse([]byte("kind: \x1b[31m" + strings.Repeat("x", 100_000) + "\n"))
	var mistake *FileError
	if !errors.As(err, &mistake) {
		t.Fatal(err)
	}
	if len(mistake.Excerpt) > 1000 || len(mistake.Message) > 1000 || strings.Contains(mistake.Excerpt, "\x1b") {
		t.Errorf("message of %d bytes, excerpt of %d: %.300q", len(mistake.Message), len(mistake.Excerpt), mistake.Excerpt)
	}
}

func TestParseEverything(t *testing.T) {
	f, err := Parse([]byte(`---
apiVersion: tenantgate/v1   # comment
kind: "Policy"
metadata:
  name: full-1
  description: |
    two
    lines
mode: enforce
statement: {kinds: [select, delete], maxBytes: 9000, maxNodes: 10, maxDepth: 5}
tables:
  end_users: {scoped: true, columns: {password_hash: {read: false}, id: {write: false}}}
  shop.Orders: {scoped: true, column: tenant, access: [select]}
  countries: {scoped: false, access: [select]}
  closed: {scoped: false}
  shut: {scoped: true, access: []}
scope: {column: account, mode: once, foreignServerId: reject}
functions:
  allow: ["@builtin-safe", pg_sleep, public.similarity]
  deny: [lower]
limits:
  statementTimeout: 1m30s
  maxRows: none
  maxResultBytes: 2KB
  maxArgs: 7
  maxConcurrent: none
  maxWait: 500ms
  requestsPerSecond: 3
  burst: 4
planner: custom
`))
	if err != nil {
		t.Fatal(err)
	}
	all := []Kind{Select, Insert, Update, Delete}
	want := &File{
		Name: "full-1", Description: "two\nlines\n",
		Statement: StatementSection{Kinds: []Kind{Select, Delete}, MaxBytes: 9000, MaxNodes: 10, MaxDepth: 5},
		Scope:     ScopeSection{Column: "account", Mode: Once, ForeignID: Reject},
		Planner:   Custom,
		Tables: []TableSection{
			{TableName: TableName{"public", "end_users"}, Scoped: true, Column: "account", Access: all, At: Position{12, 3},
				Columns: []ColumnRule{{"password_hash", false, true, Position{12, 39}}, {"id", true, false, Position{12, 69}}}},
			{TableName: TableName{"shop", "Orders"}, Scoped: true, Column: "tenant", Access: []Kind{Select}, At: Position{13, 3}},
			{TableName: TableName{"public", "countries"}, Access: []Kind{Select}, At: Position{14, 3}},
			{TableName: TableName{"public", "closed"}, At: Position{15, 3}},
			{TableName: TableName{"public", "shut"}, Scoped: true, Column: "account", Access: []Kind{}, At: Position{16, 3}},
		},
		Functions: FunctionsSection{
			Allow: []FunctionEntry{
				{Set: "@builtin-safe", At: Position{19, 11}},
				{FunctionName: FunctionName{"pg_catalog", "pg_sleep"}, At: Position{19, 28}},
				{FunctionName: FunctionName{"public", "similarity"}, At: Position{19, 38}},
			},
			Deny: []FunctionEntry{{FunctionName: FunctionName{"pg_catalog", "lower"}, At: Position{20, 10}}},
		},
		Limits: Limits{90 * time.Second, -1, 2048, 7, -1, 500 * time.Millisecond, 3, 4},
	}
	if diff := cmp.Diff(want, f, cmpopts.IgnoreUnexported(File{}), cmpopts.IgnoreFields(File{}, "SHA256")); diff != "" {
		t.Error(diff)
	}
	names, err := f.AllowedFunctions(testSets)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]FunctionName{{"pg_catalog", "count"}, {"pg_catalog", "pg_sleep"}, {"pg_catalog", "upper"}, {"public", "similarity"}}, names); diff != "" {
		t.Error(diff)
	}
}

// Ensure that what a file leaves out opens nothing.
func TestParseLeastFileAdmitsNothing(t *testing.T) {
	src := "\ufeffapiVersion: tenantgate/v1\r\nkind: Policy\r\nmetadata: {name: p}\r\n"
	f, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{
		Name:      "p",
		Statement: StatementSection{MaxBytes: 10240, MaxNodes: 5000, MaxDepth: 100},
		Scope:     ScopeSection{Column: "server_id", Mode: Require, ForeignID: Replace},
		Planner:   Generic,
	}
	want.SHA256 = f.SHA256
	if diff := cmp.Diff(want, f, cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Error(diff)
	}
	if names, err := f.AllowedFunctions(testSets); err != nil || len(names) != 0 {
		t.Errorf("admits %v, %v", names, err)
	}
}

// Ensure that the digest is that of the file as a tool such as sha256sum sees it.
func TestParseDigest(t *testing.T) {
	f, err := Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: p}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "6fe5b305850df8292cc916c74535a65506ef6864d5cb107533448813ce17debb"; f.SHA256 != want {
		t.Errorf("got %s, want %s", f.SHA256, want)
	}
}

func TestDenyOfASet(t *testing.T) {
	f, err := Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: p}\nfunctions: {allow: [lower, pg_sleep, public.lower], deny: [\"@builtin-safe\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := f.AllowedFunctions(testSets)
	if diff := cmp.Diff([]FunctionName{{"pg_catalog", "pg_sleep"}, {"public", "lower"}}, names); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestLimitsWithDefaults(t *testing.T) {
	defaults := Limits{5 * time.Second, 10000, 10485760, 1000, 20, time.Second, 200, 400}
	if diff := cmp.Diff(defaults, Limits{}.WithDefaults()); diff != "" {
		t.Error(diff)
	}
	given := Limits{time.Second, Unlimited, Unlimited, 1, Unlimited, time.Minute, Unlimited, 2}
	if diff := cmp.Diff(given, given.WithDefaults()); diff != "" {
		t.Error(diff)
	}
	buffered := given
	buffered.MaxRows, buffered.MaxResultBytes = 10000, 10485760
	if diff := cmp.Diff(buffered, given.Buffered()); diff != "" {
		t.Error(diff)
	}
	small := Limits{MaxRows: 1, MaxResultBytes: 2}
	if diff := cmp.Diff(small, small.Buffered()); diff != "" {
		t.Error(diff)
	}
}

// Ensure that no bytes make the loader panic or give an error without a place, and that
// what it takes holds as much as the YAML parser found in the text.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	more, _ := filepath.Glob("../policies/*.yaml")
	for _, file := range append(files, more...) {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		err := load(src)
		var mistake *FileError
		switch {
		case err == nil:
		case !errors.As(err, &mistake):
			t.Errorf("%T: %v", err, err)
		case mistake.Line < 1 || mistake.Column < 1 || mistake.Message == "":
			t.Errorf("no place or message: %#v", mistake)
		}
	})
}

// Ensure that the YAML parser leaves nothing out: a scalar that is in the text and not in
// the tree would be a rule that silently does not hold.
func FuzzNothingIsDropped(f *testing.F) {
	f.Add("a: 1\nb: [x, {y: z}]\nc:\n- d: e\n  f: \"g\"\n")
	f.Fuzz(func(t *testing.T, src string) {
		r, err := newReader([]byte(src))
		if err != nil {
			return
		}
		root, err := r.document()
		if err != nil {
			return
		}
		if tokens, nodes := scalarTokens(r.source), scalarNodes(root); tokens > nodes {
			t.Errorf("%d scalars in the text, %d in the tree", tokens, nodes)
		}
	})
}

func scalarTokens(source string) int {
	n := 0
	for _, t := range lexer.Tokenize(source) {
		if isScalar(t) {
			n++
		}
	}
	return n
}

func scalarNodes(root ast.Node) int {
	c := &counter{}
	ast.Walk(c, root)
	return c.scalars
}

type counter struct{ scalars int }

func (c *counter) Visit(n ast.Node) ast.Visitor {
	_, isMap := n.(*ast.MappingNode)
	_, isEntry := n.(*ast.MappingValueNode)
	_, isList := n.(*ast.SequenceNode)
	if !isMap && !isEntry && !isList && isScalar(n.GetToken()) {
		c.scalars++
	}
	return c
}

// isScalar tells the tokens that hold a value. The tree may hold more, as a missing value is a null there.
func isScalar(t *token.Token) bool {
	switch t.Type {
	case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType,
		token.HexIntegerType, token.FloatType, token.NullType, token.BoolType, token.InfinityType, token.NanType:
		return true
	}
	return false
}
