package tree

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// rewriteGrammar makes testdata/grammar.txt anew, for review.
var rewriteGrammar = flag.Bool("rewrite-grammar", false, "write testdata/grammar.txt anew")

// understoodStatements hold every kind, field and value that the table of the grammar lists.
func understoodStatements() []string {
	return []string{
		"SELECT DISTINCT a, e.*, b.c AS d FROM s.t AS e (x, y) LEFT JOIN u USING (id) AS j WHERE a = $1 GROUP BY DISTINCT ROLLUP (a, b), CUBE (c), GROUPING SETS ((), (a)) HAVING GROUPING(a) = 0 ORDER BY a ASC NULLS FIRST, b DESC NULLS LAST, c USING < OFFSET 1 ROW FETCH FIRST 2 ROWS WITH TIES",
		"SELECT DISTINCT ON (a) a FROM (t NATURAL FULL JOIN u) AS j CROSS JOIN LATERAL (SELECT 1) AS s (c) RIGHT JOIN v ON true LIMIT 1 FOR UPDATE OF t SKIP LOCKED FOR NO KEY UPDATE NOWAIT FOR SHARE FOR KEY SHARE",
		"SELECT * FROM LATERAL f(1) WITH ORDINALITY AS g (a, b), ROWS FROM (f(1), g(2) AS (a int)) AS h, json_to_record('{}') AS k (a int[] COLLATE \"C\", b numeric(1,2))",
		"SELECT a UNION ALL (SELECT b INTERSECT SELECT c) EXCEPT SELECT d", "VALUES (1, 1.5, 'a', B'1', true, NULL), (1, 2, 3, 4, 5, 6)",
		"WITH RECURSIVE a (x) AS MATERIALIZED (SELECT 1), b AS NOT MATERIALIZED (SELECT 2), c AS (DELETE FROM t USING u WHERE true RETURNING a) SELECT 1",
		"INSERT INTO t (a) OVERRIDING USER VALUE VALUES (1)",
		"WITH w AS (SELECT 1) INSERT INTO t AS x (a, b) OVERRIDING SYSTEM VALUE VALUES (1, DEFAULT) ON CONFLICT (a, lower(b), c COLLATE \"C\") WHERE a > 1 DO UPDATE SET a = excluded.a WHERE t.a > 1 RETURNING a",
		"INSERT INTO t DEFAULT VALUES ON CONFLICT ON CONSTRAINT k DO NOTHING",
		"WITH w AS (SELECT 1) UPDATE t SET a = DEFAULT, (b, c[1]) = (SELECT 1, 2) FROM u WHERE a = 1 RETURNING *", "WITH w AS (SELECT 1) DELETE FROM t",
		"SELECT a[1], b[1:2], (c)[2], ARRAY[1, 2], ROW(1, 2), (1, 2), a COLLATE \"C\", CAST(a AS int), interval '1' day, CASE a WHEN 1 THEN 2 ELSE 3 END, coalesce(a, 1), greatest(1, 2), least(1, 2)",
		"SELECT a = ANY (b), a = ALL (b), a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b, nullif(a, b), a IN (1), a LIKE b, a ILIKE b, a SIMILAR TO b, a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, a BETWEEN SYMMETRIC 1 AND 2, a NOT BETWEEN SYMMETRIC 1 AND 2, - a, (1, 2) OVERLAPS (3, 4)",
		"SELECT a AND b OR NOT c, a IS NULL, a IS NOT NULL, a IS TRUE, a IS NOT TRUE, a IS FALSE, a IS NOT FALSE, a IS UNKNOWN, a IS NOT UNKNOWN",
		"SELECT EXISTS (SELECT 1), a = ALL (SELECT 1), a IN (SELECT 1), (SELECT 1), ARRAY(SELECT 1)",
		"SELECT current_date, current_time, current_time(1), current_timestamp, current_timestamp(1), localtime, localtime(1), localtimestamp, localtimestamp(1)",
		"SELECT count(*), count(DISTINCT a ORDER BY b) FILTER (WHERE c), percentile_cont(0.5) WITHIN GROUP (ORDER BY a), f(VARIADIC a), f(a => 1), sum(a) OVER w, sum(a) OVER (x PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t WINDOW w AS (), x AS (w)",
		"SELECT sum(a) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES), sum(a) OVER (GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE GROUP), sum(a) OVER (ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW), sum(a) OVER (ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
	}
}

// specimen is a statement that holds an instance of a kind.
type specimen struct {
	stmt *pg.RawStmt
	path []step
}

type step struct {
	field protoreflect.FieldNumber
	index int // in a list; -1 for a single message
}

// in gives the instance in a copy of the statement.
func (s specimen) in(stmt *pg.RawStmt) protoreflect.Message {
	m := stmt.ProtoReflect()
	for _, at := range s.path {
		fd := m.Descriptor().Fields().ByNumber(at.field)
		if at.index < 0 {
			m = m.Mutable(fd).Message()
		} else {
			m = m.Mutable(fd).List().Get(at.index).Message()
		}
	}
	return m
}

// specimens finds an instance of each kind, and all values that fields have.
type specimens struct {
	t     *testing.T
	kinds map[protoreflect.Name]specimen
	held  map[string]bool // "kind.field", "kind.field value"
}

func collect(t *testing.T) *specimens {
	s := &specimens{t: t, kinds: map[protoreflect.Name]specimen{}, held: map[string]bool{}}
	for _, text := range understoodStatements() {
		stmt, f := Parse(text)
		if f != nil {
			t.Fatalf("%s: %+v", text, f)
		}
		if !admits(t, stmt) {
			t.Fatalf("%s is refused", text)
		}
		s.walk(stmt, stmt.ProtoReflect(), nil)
	}
	return s
}

func (s *specimens) walk(stmt *pg.RawStmt, m protoreflect.Message, path []step) {
	name := m.Descriptor().Name()
	if _, seen := s.kinds[name]; !seen {
		s.kinds[name] = specimen{stmt, append([]step(nil), path...)}
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		s.held[fmt.Sprintf("%s.%s", name, fd.Name())] = true
		if fd.Kind() == protoreflect.EnumKind {
			s.held[fmt.Sprintf("%s.%s %s", name, fd.Name(), fd.Enum().Values().ByNumber(v.Enum()).Name())] = true
		}
		switch {
		case fd.Kind() != protoreflect.MessageKind:
		case fd.IsList():
			for i := range v.List().Len() {
				s.walk(stmt, v.List().Get(i).Message(), append(path, step{fd.Number(), i}))
			}
		default:
			s.walk(stmt, v.Message(), append(path, step{fd.Number(), -1}))
		}
		return true
	})
}

func admits(t *testing.T, stmt *pg.RawStmt) bool {
	t.Helper()
	kinds, err := newKinds()
	if err != nil {
		t.Fatal(err)
	}
	g := &Grammar{Kinds: kinds, Limit: Complexity{MaxNodes: 5000, MaxDepth: 100}}
	return g.Admit(stmt, 0, 0) == nil
}

// with tells whether the specimen of a kind is admitted after a change.
func (s *specimens) with(name protoreflect.Name, change func(protoreflect.Message)) bool {
	sp := s.kinds[name]
	stmt := proto.Clone(sp.stmt).(*pg.RawStmt)
	change(sp.in(stmt))
	return admits(s.t, stmt)
}

// fill gives a value of a field that is not its zero: for a message a specimen of its kind
// where there is one.
func (s *specimens) fill(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	if fd.Kind() == protoreflect.MessageKind {
		m.Clear(fd)
		v := m.NewField(fd)
		one := v
		if fd.IsList() {
			one = v.List().NewElement()
			v.List().Append(one)
		}
		if sp, ok := s.kinds[fd.Message().Name()]; ok && fd.Message().Name() != "Node" {
			proto.Merge(one.Message().Interface(), sp.in(proto.Clone(sp.stmt).(*pg.RawStmt)).Interface())
		}
		if n, ok := one.Message().Interface().(*pg.Node); ok {
			n.Node = &pg.Node_String_{String_: &pg.String{Sval: "x"}}
		}
		m.Set(fd, v)
		return
	}
	m.Set(fd, map[protoreflect.Kind]protoreflect.Value{
		protoreflect.BoolKind: protoreflect.ValueOfBool(true), protoreflect.StringKind: protoreflect.ValueOfString("x"),
		protoreflect.Int32Kind: protoreflect.ValueOfInt32(7), protoreflect.Uint32Kind: protoreflect.ValueOfUint32(7),
	}[fd.Kind()])
}

// TestGrammar tries every kind of message that the parser has, every field of those that
// are admitted, and every value of their enums, on trees that are admitted otherwise.
// What became of each stands in testdata/grammar.txt: a release of the parser with
// more of anything changes that file, and nothing passes unnoticed.
func TestGrammar(t *testing.T) {
	s := collect(t)
	file := (&pg.ParseResult{}).ProtoReflect().Descriptor().ParentFile()
	l := &listing{specimens: s}
	for i := range file.Messages().Len() {
		l.kind(file.Messages().Get(i))
	}
	for i := range file.Enums().Len() {
		l.values += file.Enums().Get(i).Values().Len()
	}
	head := fmt.Sprintf("# What the grammar's allow-list does with all that the parser knows: + is admitted, - refused.\n"+
		"# Made by TestGrammar with -rewrite-grammar, for review.\n"+
		"# kinds: %d admitted, %d refused; fields of admitted kinds: %d admitted, %d refused;\n"+
		"# enums: %d with %d values; in fields of admitted kinds %d values are admitted and %d refused, all others\n"+
		"# can't stand in an admitted tree\n\n", l.counts["kind+"], l.counts["kind-"], l.counts["field+"], l.counts["field-"],
		file.Enums().Len(), l.values, l.counts["value+"], l.counts["value-"])
	got := head + l.text.String()
	if *rewriteGrammar {
		if err := os.WriteFile("testdata/grammar.txt", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/grammar.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the grammar changed; decide on what is new, then run this test with -rewrite-grammar:\n%s", diff)
	}
}

// listing writes what became of each thing that was tried.
type listing struct {
	*specimens
	text   strings.Builder
	counts map[string]int
	values int
}

func (l *listing) count(what string, admitted bool) string {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	sign := map[bool]string{true: "+", false: "-"}[admitted]
	l.counts[what+sign]++
	return sign
}

// kind tries a kind. One without a specimen is put where any Node may stand, or, where
// it is no Node, straight before the check.
func (l *listing) kind(d protoreflect.MessageDescriptor) {
	kinds, _ := newKinds()
	if _, ok := l.kinds[d.Name()]; !ok {
		stray := dynamicpb.NewMessage(d)
		g := &Grammar{Kinds: kinds, Limit: Complexity{MaxNodes: 5000, MaxDepth: 100}}
		admitted := g.Admit(stray, 0, 0) == nil || l.asNode(d)
		fmt.Fprintf(&l.text, "%s %s\n", l.count("kind", admitted), d.Name())
		return
	}
	fmt.Fprintf(&l.text, "%s %s\n", l.count("kind", true), d.Name())
	for i := 0; i < d.Fields().Len() && d.Name() != "Node"; i++ {
		l.field(d, d.Fields().Get(i))
	}
	later := protowire.AppendVarint(protowire.AppendTag(nil, 900, protowire.VarintType), 1)
	if l.with(d.Name(), func(m protoreflect.Message) { m.SetUnknown(later) }) {
		l.t.Errorf("%s with a field of a later release is admitted", d.Name())
	}
}

// asNode tells whether a message of a kind is admitted as an expression.
func (l *listing) asNode(d protoreflect.MessageDescriptor) bool {
	fields := (&pg.Node{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); fd.Message() == d {
			return l.with("Node", func(m protoreflect.Message) { m.Set(fd, m.NewField(fd)) })
		}
	}
	return false
}

func (l *listing) field(d protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
	if fd.Kind() == protoreflect.EnumKind {
		fmt.Fprintf(&l.text, "\t%s", fd.Name())
		l.enum(d, fd)
		fmt.Fprintln(&l.text)
		return
	}
	filled := l.with(d.Name(), func(m protoreflect.Message) { l.fill(m, fd) })
	if fd.Name() == "frame_options" {
		l.bits(d, fd)
		return
	}
	held := l.held[fmt.Sprintf("%s.%s", d.Name(), fd.Name())]
	if filled && !held && !isPlace(fd.Name()) {
		l.t.Errorf("%s.%s is admitted, and no statement here holds it", d.Name(), fd.Name())
	}
	fmt.Fprintf(&l.text, "\t%s %s%s\n", l.count("field", filled || held), fd.Name(), l.only(d, fd, filled || held))
}

// only gives the one value of a field that must hold it.
func (l *listing) only(d protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor, admitted bool) string {
	if !admitted || l.with(d.Name(), func(m protoreflect.Message) { m.Clear(fd) }) {
		return ""
	}
	sp := l.kinds[d.Name()]
	return " " + sp.in(proto.Clone(sp.stmt).(*pg.RawStmt)).Get(fd).String() + " only"
}

// enum tries all values of an enum and one that it does not have.
func (l *listing) enum(d protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
	some := false
	for i := range fd.Enum().Values().Len() {
		v := fd.Enum().Values().Get(i)
		admitted := l.with(d.Name(), func(m protoreflect.Message) { m.Set(fd, protoreflect.ValueOfEnum(v.Number())) })
		if admitted && !l.held[fmt.Sprintf("%s.%s %s", d.Name(), fd.Name(), v.Name())] {
			l.t.Errorf("%s.%s = %s is admitted, and no statement here holds it", d.Name(), fd.Name(), v.Name())
		}
		some = some || admitted
		fmt.Fprintf(&l.text, " %s%s", l.count("value", admitted), v.Name())
	}
	l.count("field", some)
	if l.with(d.Name(), func(m protoreflect.Message) { m.Set(fd, protoreflect.ValueOfEnum(99)) }) {
		l.t.Errorf("%s.%s is admitted with a value of a later release", d.Name(), fd.Name())
	}
}

// bits tries each bit of a mask.
func (l *listing) bits(d protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
	l.count("field", true)
	fmt.Fprintf(&l.text, "\t+ %s", fd.Name())
	for bit := range 31 {
		admitted := l.with(d.Name(), func(m protoreflect.Message) { m.Set(fd, protoreflect.ValueOfInt32(1<<bit)) })
		if admitted {
			fmt.Fprintf(&l.text, " %#x", 1<<bit)
		}
	}
	fmt.Fprintln(&l.text)
}
