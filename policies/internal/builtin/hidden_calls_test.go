package builtin_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
)

// calls gives calls with constants: with a type, without one, and beside what is computed for each row.
func calls(t *testing.T) (all []string) {
	db := connect(t)
	all = append(slices.Clone(constructs), literals(t, db)...)
	for _, s := range subjects(t, db) {
		if s.rows {
			continue // what aggregates are given is not hidden
		}
		if hash := fnv.New32a(); !*everyCall {
			_, _ = hash.Write([]byte(s.name))
			if hash.Sum32()%8 != 0 {
				continue
			}
		}
		call := s.expression()
		for _, form := range []func(string) string{typedConstant, bareConstant, computedConstant} {
			made := call
			for i := len(s.types) - 1; i >= 0; i-- {
				made = strings.ReplaceAll(made, fmt.Sprintf("$%d", i), form(s.types[i]))
			}
			all = append(all, made)
		}
	}
	return all
}

// literals gives literals of each type, by a cast and by a call, and where they are not read: valid ones and others.
func literals(t *testing.T, db *pgx.Conn) (all []string) {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT typname::text, format_type(oid, NULL) FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typname = ANY ($1)", policies.Types())
	if err != nil {
		t.Fatal(err)
	}
	var name, typ string
	_, err = pgx.ForEachRow(rows, []any{&name, &typ}, func() error {
		literal := bareConstant(typ)
		switch {
		case strings.HasPrefix(name, "json"):
			literal = `'{"a": 1}'`
		case strings.HasSuffix(name, "multirange"):
			literal = "'{}'"
		case !strings.HasPrefix(literal, "'"):
			literal = "'1'"
		}
		for _, form := range []string{"@::" + typ, `pg_catalog."` + name + `"(@)`} {
			valid, unread := strings.ReplaceAll(form, "@", literal), "CASE WHEN ascii('a') = 1 THEN "+form+" END"
			all = append(all, valid, strings.ReplaceAll(unread, "@", literal), strings.ReplaceAll(unread, "@", "'?'"))
		}
		return nil
	})
	if err != nil || len(all) < 6*len(policies.Types()) {
		t.Fatal(len(all), err)
	}
	return all
}

// expression is the call alone.
func (s subject) expression() string {
	e := strings.TrimPrefix(strings.TrimPrefix(s.call, "SELECT count(*) FROM ("), "SELECT ")
	e, _, _ = strings.Cut(e, " FROM generate_series")
	e = strings.TrimSuffix(strings.TrimSuffix(e, ") s"), " IS NULL")
	return strings.TrimPrefix(e, "SELECT ")
}

func typedConstant(typ string) string {
	switch typ {
	case "text", `"any"`, "any":
		return "'a'::text"
	}
	if e := fixed[typ]; e != "" {
		return e
	}
	if e := argument(typ, "short", 0, 1); e != "" && !strings.Contains(e, "SELECT") {
		return e
	}
	return "NULL"
}

func bareConstant(typ string) string {
	e := typedConstant(typ)
	if literal, _, ok := strings.Cut(e, "::"); ok && strings.HasPrefix(literal, "'") {
		return literal
	}
	return e
}

func computedConstant(typ string) string {
	switch typ {
	case "text":
		return "reverse('a')"
	case "integer":
		return "ascii('a')"
	}
	return bareConstant(typ)
}

// constructs are calls that have a syntax of their own, and what else is made of constants.
var constructs = strings.Split(strings.TrimSpace(`
substring('abc' FOR 2)
substring('abc' FROM 2)
substring('abc' FROM 2 FOR 1)
substring('abc' FROM 'b')
substring('abc' SIMILAR 'a#"b#"c' ESCAPE '#')
substring(reverse('abc') FOR 2)
overlay('abc' PLACING 'x' FROM 2)
overlay('abc' PLACING 'x' FROM 2 FOR 1)
position('a' IN 'ba')
trim('  a ')
trim(both 'x' FROM 'xax')
trim(leading FROM ' a')
extract(year FROM date '2024-01-01')
extract('year' FROM interval '1' year)
normalize('a')
normalize('a', NFC)
'a' IS NFC NORMALIZED
timestamp '2024-01-01 10:00' AT TIME ZONE 'UTC'
'2024-01-01 10:00' AT TIME ZONE 'UTC'
'a' LIKE 'a'
'a' LIKE 'a' ESCAPE '!'
'a' NOT ILIKE 'a'
'a' SIMILAR TO 'a'
'a' SIMILAR TO 'a' ESCAPE '!'
'a' BETWEEN 'a' AND 'b'
'b' BETWEEN SYMMETRIC 'c' AND 'a'
ARRAY['a', 'b']
ARRAY['a', reverse('b')]
ARRAY[[1, 2], [3, 4]]
(ARRAY['a', 'b'])[1]
('{a,b}'::text[])[1:2]
('{"a": 1}'::jsonb)['a']
ROW(1, 'a')
('a', 'b') = ('a', reverse('c'))
('a', 1) IN (('a', 2), ('b', 3))
(ascii('a'), 1) = ('97', '1')
(ascii('a'), 1) IN (('97', '2'), ('98', '1'))
('97', 'b') IN (SELECT ascii('a'), 'b')
'x'::text || ROW('b', 1)
ROW('b', 1) || 'x'::text
CASE 'a' WHEN 'b' THEN 1 END
CASE WHEN 'a' = 'b' THEN 'c' ELSE reverse('d') END
coalesce('a', 'b')
coalesce(NULL, reverse('b'))
nullif('a', 'b')
greatest('a', 'b')
least(1, 2.5)
'a' IS NULL
'a' IS DISTINCT FROM 'b'
NOT ('a' IS NOT DISTINCT FROM NULL)
'a' || 'b'
'a' || reverse('b')
'a' IN ('a', 'b')
'a' = ANY ('{a,b}')
'a' = ANY (ARRAY['a', 'b'])
1 + '2'
- '1'
-5 % 3
2 ^ 3
true AND 't'
NOT 'f'
't' IS TRUE
'a' COLLATE "C"
'a' COLLATE "C" || 'b'
concat('a' COLLATE "C", reverse('b'))
concat('a', ('b'), (1), NULL, reverse('c'))
concat(VARIADIC ARRAY['a', 'b'])
concat(VARIADIC ARRAY['a', reverse('b')])
format('%s', VARIADIC ARRAY['a', reverse('b')])
jsonb_build_object('a', reverse('b'))
jsonb_build_object('a', 1, 'b', jsonb_build_array('c', reverse('d')))
json_build_object(VARIADIC '{a,b}'::text[])
make_interval(days => 3)
make_interval(days => ascii('a'))
to_jsonb('a')
to_jsonb('a'::text)
array_append(ARRAY['a'], 'b')
array_append('{a}', reverse('b'))
array_position(ARRAY['a', 'b'], 'b')
string_to_array('a,b', ',')
date('2024-01-01')
timestamptz('2024-01-01')
text('a')
int4('1')
bool('t')
date '2024-01-01'
date '2024-01-01' + 1
interval '1' day
interval '1 day' * 2
now() - interval '1 day' < now()
current_date - 1 < current_date
localtime(2) IS NULL
x'1f'
b'101'
1e3
12345678901
1.50
'1.23'::numeric(3,1)
CAST('abc' AS varchar(2))
char(2) 'abc'
'a'::"char"
E'a\\'b'
(SELECT 'a')
EXISTS (SELECT 'a')
'a' IN (SELECT 'b')
ARRAY(SELECT 'a')
`), "\n")
