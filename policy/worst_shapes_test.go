package policy_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// maxText is the length of the worst texts: the most that a policy admits.
const maxText = 10_240

// third marks the texts that are blank but for a third.
const third = " / 3"

// shape makes a text of at most so many bytes that is as bad as its kind can be.
type shape func(bytes int) string

// wide repeats a part of what is nested or repeated itself.
func wide(unit string, n int) string { return strings.Repeat(unit, n) }

// row repeats a unit between a head and a tail; %d in it is its number.
func row(head, unit, tail string) shape { return some(1<<20, head, unit, tail) }

// some is row with so many units at most, for what a limit ends.
func some(most int, head, unit, tail string) shape {
	return func(bytes int) string {
		var out strings.Builder
		out.WriteString(head)
		for i := range most {
			next := strings.ReplaceAll(unit, "%d", strconv.Itoa(i))
			if out.Len()+len(next)+len(tail) > bytes {
				break
			}
			out.WriteString(next)
		}
		out.WriteString(tail)
		return out.String()
	}
}

// chains groups by the positions of columns that chain so many operators, and are equal to their last literal.
func chains(operators int) shape {
	return func(bytes int) string {
		list, by := "SELECT 1", " FROM files GROUP BY 1"
		const having = " HAVING max(name)>''"
		for i := 2; ; i++ {
			n := strconv.Itoa(i)
			column := "," + strings.Repeat("name||", operators) + "'" + n + "'"
			if len(list)+len(column)+len(by)+len(n)+1+len(having) > bytes {
				return list + by + having
			}
			list, by = list+column, by+","+n
		}
	}
}

// nest puts something into itself, so many times at most.
func nest(most int, head, open, middle, end, tail string) shape {
	return func(bytes int) string {
		n := min(most, max(0, (bytes-len(head)-len(middle)-len(tail))/(len(open)+len(end))))
		return head + strings.Repeat(open, n) + middle + strings.Repeat(end, n) + tail
	}
}

// expressions stand wherever a value may.
func expressions() map[string]shape {
	return map[string]shape{
		"operator run": row("1", "+-+-", "1"), "operator runs": row("1 ", strings.Repeat("+", 60)+" ", "1"), "sums": some(60, "1", "+1", ""), "long sums": row("1", "+1", ""),
		"brackets": nest(98, "", "(", "1", ")", ""), "nots": some(90, "", "NOT ", "true"), "minuses": row("", "- ", "1"),
		"IN list": row("1 IN (1", ",1", ")"), "texts IN list": row("'a' IN ('a'", ",'a'", ")"), "IN rows": row("(1,2) IN ((1,2)", ",(1,2)", ")"), "many INs": row("true", " OR 1 IN (2)", ""),
		"ORs": row("1=1", " OR 1=1", ""), "ANDs": row("1=1", " AND 1=1", ""), "columns and": row("true", " AND content=''", ""), "betweens": row("true", " OR 1 BETWEEN 1 AND 2", ""), "bracketed ors": nest(95, "", "(true or ", "true", ")", ""),
		"marks": row("coalesce(?", ",?", ")"), "joined marks": row("''", "||?", ""), "marks in ORs": row("true", " OR ?=?", ""), "numbered": row("coalesce($1", ",$%d1", ")"), "cast marks": row("coalesce(?", ",?::text", ")"),
		"casts": some(90, "1", "::int", ""), "many casts": row("(1::int,1", ",1::int", ")"), "types": row("(1,1", ",'1'::numeric(1,1)[]", ")"), "array types": row("'{}'::int", "[]", ""),
		"case when": row("CASE", " WHEN 1=1 THEN 1", " END"), "case nested": nest(45, "", "CASE WHEN true THEN ", "1", " END", ""), "case else": nest(90, "", "CASE WHEN true THEN 1 ELSE ", "1", " END", ""),
		"calls": nest(90, "", "abs(", "1", ")", ""), "many calls": row("(abs(1),1", ",abs(1)", ")"), "arguments": row("concat('a'", ",'a'", ")"), "named arguments": row("make_interval(", "days=>1,", "secs=>1)"),
		"joined columns": some(90, "id", "||' '||id", ""), "joined number": some(90, "1", "||id", ""), "coalesces": nest(90, "", "coalesce(", "id", ",'x')", ""), "coalesces after": nest(90, "", "coalesce('x',", "id", ")", ""),
		"lower coalesces": nest(45, "", "lower(coalesce('x',", "id", "))", ""), "coalesces of queries": nest(22, "", "(SELECT coalesce(", "id", ",'x') LIMIT 1)", ""), "case columns": nest(45, "", "CASE WHEN true THEN id ELSE ", "id", " END", ""),
		"greatest columns": nest(90, "", "greatest(id,", "id", ")", ""), "coalesce IN coalesces": row("coalesce("+strings.Repeat("id,", 700)+"id) IN (id", ",coalesce(id,id)", ")"), "moved": some(90, "now()", "+interval '1 day'", ""),
		"arrays": nest(90, "", "ARRAY[", "1", "]", ""), "long array": row("ARRAY[1", ",1", "]"), "indices": row("content", "[1]", ""), "slices": some(1000, "(ARRAY[1])", "[1:2]", ""), "rows": nest(90, "", "ROW(1,", "1", ")", ""),
		"windows": row("(1,sum(1) OVER ()", ",sum(1) OVER (ORDER BY 1)", ")"), "framed windows": row("(1,1", ",count(*) OVER (PARTITION BY id ORDER BY id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING EXCLUDE TIES)", ")"), "filters": row("(1,1", ",count(DISTINCT id ORDER BY id) FILTER (WHERE true)", ")"),
		"escapes": row("E'", `\n`, "'"), "unicode escapes": row("U&'", `\0041`, "'"), "quotes": row("'", "''", "'"), "long text": row("'", "a", "'"), "dollar quote": row("$a$", "$b$", "$a$"), "dollar quotes": row("(''", ",$$$$", ")"), "continued text": row("'a'", "\n'b'", ""), "bits": row("B'", "1", "'"), "hexadecimal": row("X'", "F", "'"), "accents": row("'", "é", "'"),
		"digits": row("1", "1", ""), "numbers": row("(1", ",1e9", ")"), "underscores": row("1", "_1", ""), "hexadecimal digits": row("0x1", "F", ""),
		"JSON path": row("jsonb_path_query_first('{}', '$", ".a", "')"), "JSON steps": row("metadata", "->'a'", ""), "few JSON steps": some(90, "metadata", "->'a'", ""), "JSON marks": row("metadata ?? 'a'", " OR metadata ??| ARRAY['a']", ""), "JSON text": row("'{", `"a":1,`, `"b":2}'::jsonb`),
		"sub-queries": nest(45, "", "(SELECT ", "1", ")", ""), "scoped sub-queries": nest(18, "", "(SELECT id FROM files WHERE id=", "'1'", ")", ""), "many sub-queries": row("(1,1", ",(SELECT 1)", ")"), "many scoped": row("(1,1", ",(SELECT id FROM files)", ")"), "exists": row("true", " AND EXISTS (SELECT FROM files)", ""), "IN queries": row("true", " OR 1 IN (SELECT 1)", ""), "any queries": row("true", " OR 1=ANY(SELECT 1)", ""),
		"columns": row("(id", ",id", ")"), "qualified columns": row("(m.id", ",m.id", ")"), "dots": row("m", ".id", ""), "long names": row("(id", `,"`+strings.Repeat("a", 60)+`%d"`, ")"), "quoted names": row("(id", `,"id"`, ")"), "unknown columns": row("(id", ",x%d", ")"),
		"collations": some(90, "content", ` COLLATE "C"`, ""), "times": some(80, "now()", " AT TIME ZONE 'UTC'", ""), "likes": row("true", " OR '' LIKE ''", ""), "nulls": some(90, "1", " IS NULL", ""), "distinct from": row("true", " OR 1 IS DISTINCT FROM 1", ""), "similars": row("true", " OR '' SIMILAR TO ''", ""),
		"nested comments": nest(8, "1 ", "/*", " ", "*/", ""), "comments": row("1 ", "/**/ ", ""), "comment": row("1 /*", "* ", "*/"), "line comments": row("1 ", "--\n", ""), "open comments": row("1 ", "/*", ""), "spaces": row("1", " ", ""),
		"whole rows": row("(m", ",m", ")"), "stars in rows": row("(1", ",m.*", ")"), "rows of stars": row("ROW(m.*", ",m.*", ")"), "counts": row("(count(*)", ",count(m.*)", ")"),
	}
}

// statements of the worst kinds, which say where they put a bad expression: nowhere.
func worstStatements() map[string]shape {
	return map[string]shape{
		"texts in texts":                     nest(90, "SELECT 1 FROM files f, (SELECT ", "lower(", "concat(?::text,now())", ")", " AS x) s WHERE f.name>s.x"),
		"many texts in texts":                row("SELECT 1 FROM files f, (SELECT id", ","+strings.Repeat("lower(", 40)+"concat(?::text,now())"+strings.Repeat(")", 40), ",lower(id) AS x FROM files) s WHERE f.name>s.x"),
		"names of joins of computed columns": row("SELECT 1 FROM (SELECT id || '' AS id FROM files) a", " JOIN (SELECT id || '' AS id FROM files) t%d USING (id) AS j%d", ""),
		"names of joins":                     row("SELECT 1 FROM (files a", " JOIN files t%d USING (id) AS j%d", ") AS x WHERE lower(x.id) ~ 'a'"), "some names of joins": some(40, "SELECT 1 FROM (files a", " JOIN files t%d USING (id) AS j%d", ") AS x WHERE lower(x.id) ~ 'a'"),
		"wide HAVING": nest(80, "SELECT 1 FROM files HAVING ", "sum(", "concat("+wide("id,", 1500)+"id)", ")", " > 1"), "wide EXISTS": nest(30, "SELECT 1 FROM files WHERE ", "EXISTS (SELECT FROM files WHERE ", "concat("+wide("id,", 2000)+"id) ~ ''", ")", ""),
		"wide calls": nest(85, "SELECT 1 FROM files WHERE ", "abs(", "concat("+wide("id,", 2000)+"id)", ")", " IS NULL"), "wide name casts": nest(40, "SELECT 1 FROM files WHERE ", "(", "concat("+wide("id,", 2000)+"id)", " = id::name)::name", " IS NULL"),
		"names by a wide query": row("SELECT 1 FROM files WHERE (SELECT ''::name FROM files WHERE id IN ("+wide("id,", 1200)+"id) LIMIT 1) IN (''", ",''::name", ")"), "converted list": row("SELECT 1 FROM (SELECT 1 WHERE 0::a IN (0::a", ",0::a", ")) s"),
		"sorted entries": row("SELECT 1 FROM files WHERE EXISTS (SELECT 1"+wide(",1", 1600)+" FROM files ORDER BY id", ",id", ")"), "wide levels": nest(40, "SELECT 1 FROM ", "(SELECT 1 FROM ", "(SELECT 1"+wide(",1", 1600)+") a", ") a", ""),
		"stars": row("SELECT *", ",*", " FROM messages"), "stars over hidden": row("SELECT *", ",*", " FROM end_users"), "table stars over hidden": row("SELECT e.*", ",e.*", " FROM end_users e"), "nested stars": nest(12, "SELECT * FROM ", "(SELECT *,*,* FROM ", "messages", ") m", ""), "wide nested stars": nest(30, "SELECT * FROM ", "(SELECT * FROM ", "end_users", ") m", ""),
		"tables": row("SELECT 1 FROM files a", ",files a%d", ""), "short tables": row("SELECT 1 FROM files", ",files\"%d\"", ""), "qualified tables": row("SELECT 1 FROM files a", ",public.files AS a%d", ""), "renamed tables": row("SELECT 1 FROM files a", ",files a%d(b,c,d,e)", ""), "unknown tables": row("SELECT 1 FROM x", ",x%d", ""), "same names": row("SELECT 1 FROM files", ",files", ""),
		"cross joins": some(80, "SELECT 1 FROM files a", " CROSS JOIN files a%d", ""), "joins": some(80, "SELECT * FROM files a", " JOIN files a%d ON true", ""), "left joins": some(80, "SELECT * FROM end_users a", " LEFT JOIN end_users a%d ON true", ""), "using": some(80, "SELECT * FROM files a", " JOIN files a%d USING (id)", ""), "natural": some(80, "SELECT * FROM files a", " NATURAL JOIN files a%d", ""), "full": some(80, "SELECT id FROM files a", " FULL JOIN files a%d USING (id)", ""),
		"bracketed joins": nest(45, "SELECT 1 FROM ", "(", "files a CROSS JOIN files b", " CROSS JOIN countries)", ""), "laterals": row("SELECT 1 FROM files a", ", LATERAL (SELECT a.id) a%d", ""), "scoped laterals": row("SELECT 1 FROM files a", ", LATERAL (SELECT * FROM files) a%d", ""), "functions": row("SELECT 1 FROM abs(1) a", ", abs(1) a%d", ""), "rows from": row("SELECT 1 FROM ROWS FROM (abs(1)", ",abs(1)", ") a"), "definitions": row("SELECT 1 FROM json_to_record('{}') a (a int", ",a%d int", ")"), "sets": row("SELECT * FROM unnest(ARRAY[1]) a", ",unnest(ARRAY[1]) a%d", ""),
		"with": row("WITH a AS (SELECT 1)", ",a%d AS (SELECT 1)", " SELECT 1"), "scoped with": row("WITH a AS (SELECT 1)", ",a%d AS (SELECT * FROM files)", " SELECT 1"), "with of with": row("WITH a AS (SELECT * FROM files)", ",a%d AS (SELECT a.* FROM a)", " SELECT 1"), "nested with": nest(30, "", "WITH a AS (", "SELECT 1", ") SELECT * FROM a", ""), "recursive": row("WITH RECURSIVE a AS (SELECT 1)", ",a%d AS (SELECT 1 UNION SELECT 1 FROM a%d)", " SELECT 1"), "writes in with": row("WITH a AS (SELECT 1)", ",a%d AS (DELETE FROM files RETURNING *)", " SELECT 1"),
		"values": row("VALUES (1)", ",(1)", ""), "wide values": row("VALUES (1", ",1", ")"), "unions": some(90, "SELECT 1", " UNION SELECT 1", ""), "many unions": row("SELECT 1", " UNION SELECT 1", ""), "scoped unions": some(90, "SELECT id FROM files", " UNION ALL SELECT id FROM files", ""), "bracketed unions": nest(40, "", "(", "SELECT 1", " UNION SELECT 1)", ""),
		"groups": row("SELECT count(*) FROM files GROUP BY id", ",id", ""), "computed groups": row("SELECT count(*) FROM files GROUP BY id", ",name||'%d'", " HAVING max(name)>''"), "equal groups": row("SELECT count(*) FROM files GROUP BY id", ",name||''", " HAVING max(name)>''"), "report": chains(1), "report of chains": chains(24), "report of long chains": chains(40), "sets of groups": row("SELECT 1 FROM files GROUP BY GROUPING SETS ((id)", ",(id)", ")"), "computed sets": row("SELECT * FROM (SELECT 1"+wide(",name<''", 150)+" FROM files GROUP BY server_id,id,GROUPING SETS((id", ",name||'%d'", "))) s"), "nested sets": nest(40, "SELECT 1 FROM files GROUP BY ", "GROUPING SETS (", "(id)", ")", ""), "cubes": row("SELECT 1 FROM files GROUP BY CUBE (id", ",name", ")"), "orders": row("SELECT 1 ORDER BY 1", ",1", ""), "named orders": row("SELECT 1 a FROM files ORDER BY id", ",id USING <", ""), "distinct": row("SELECT DISTINCT ON (id", ",id", ") id FROM files"), "window names": row("SELECT 1 FROM files WINDOW a AS ()", ",a%d AS (PARTITION BY id)", ""), "locks": row("SELECT 1 FROM files a", " FOR UPDATE OF a", ""),
		"insert rows": row("INSERT INTO files (id,server_id,name) VALUES ('',?,'')", ",('',?,'')", ""), "insert columns": row("INSERT INTO files (id,server_id", ",name", ") VALUES (1)"), "insert returning": row("INSERT INTO files (id,server_id) VALUES ('',?) RETURNING id", ",id", ""), "insert stars": row("INSERT INTO end_users (id,server_id) VALUES ('',?) RETURNING *", ",*", ""), "upsert": row("INSERT INTO files (id,server_id) VALUES ('',?) ON CONFLICT (server_id,id) DO UPDATE SET name=''", ",name=''", ""), "conflict columns": row("INSERT INTO files (id,server_id) VALUES ('',?) ON CONFLICT (id", ",id", ") DO NOTHING"), "insert select": row("INSERT INTO files (id,server_id) SELECT '',? WHERE true", " OR true", ""), "insert unions": some(80, "INSERT INTO files (id,server_id) SELECT '',?", " UNION ALL SELECT '',?", ""),
		"set": row("UPDATE files SET name=''", ",name=''", ""), "set lists": func(n int) string { return setLists(n, 90) }, "wide set lists": func(n int) string { return setLists(n, 1000) }, "set rows": row("UPDATE files SET name=''", ",(name,id)=('','')", ""), "set queries": row("UPDATE files SET name=''", ",(name,id)=(SELECT '','')", ""), "nested set lists": nestedSets, "update from": row("UPDATE files SET name='' FROM files a", ",files a%d", ""), "update where": row("UPDATE files SET name='' WHERE true", " OR id=''", ""), "delete using": row("DELETE FROM files USING files a", ",files a%d", ""), "deletes returning": row("DELETE FROM end_users RETURNING *", ",*", ""), "elements": row("UPDATE messages SET metadata['a']=''", ",metadata['a']=''", ""),
		"definitions wide": row("SELECT * FROM (VALUES (1)) a(b", ",b%d", ")"), "aliases": row("SELECT 1 a", ",1 a%d", ""), "long aliases": row("SELECT 1 a", ",1 "+strings.Repeat("a", 70)+"%d", ""), "semicolons": row("SELECT 1", ";", ""), "junk": row("", "SELECT ", ""), "signs": row("", "}", ""), "names": row("", "a ", ""), "quotes open": row("SELECT ", "'", ""), "unary": row("SELECT ", "@ ", "1"),
		"guards": row("SELECT 1 FROM files WHERE name~''", " AND name~''", ""), "guards of many": row("SELECT 1 FROM files a,files b,files c,files d WHERE a.name||b.name||c.name||d.name~''", " AND id~''", ""), "guarded joins": some(80, "SELECT 1 FROM files a", " LEFT JOIN files a%d ON a%d.name~''", ""), "guarded name": row("SELECT 1 FROM files a", ",files a%d", " WHERE random()>1"),
		"parts and tables": crossed(",files a%d", " WHERE @1", " AND @1", ""), "bracketed parts and tables": crossed(",files a%d", " WHERE(@1", " AND @1", ")"), "queries and tables": crossed(",files a%d", " WHERE true", " AND(SELECT 1)", ""), "queries and sub-queries": crossed(",(TABLE files)a%d", " WHERE true", " AND(SELECT 1)", ""),
		"guarded exists": nest(20, "SELECT 1 FROM files a WHERE ", "EXISTS (SELECT FROM files b WHERE a.name~b.name AND ", "true", ")", ""), "barriers": row("SELECT 1 FROM (SELECT lower(id) FROM files) a", ",(SELECT lower(id) FROM files) a%d", ""), "barrier chain": nest(28, "SELECT * FROM ", "(SELECT *, lower('') AS b FROM ", "files", ") a", ""), "barrier with": row("WITH a AS (SELECT lower(id) FROM files)", ",a%d AS (SELECT lower(id) FROM files)", " SELECT 1"), "lateral chain": row("SELECT 1 FROM files a", ", LATERAL (SELECT lower(a.id)) a%d", ""), "havings": row("SELECT name FROM files GROUP BY name HAVING name~''", " AND name~''", ""),
		"reserved names": row("SELECT 1", ",id", " FROM order,desc,limit"), "many reserved names": row("SELECT 1", ",id", " FROM order,desc,limit,table,group"),
		"near columns": nearColumns, "near columns listed": row("INSERT INTO files (id,server_id", ",nam%d", ") VALUES (1)"), "near columns set": row("UPDATE files SET nam=''", ",nam%d=''", ""),
		"derived chains": nest(28, "SELECT * FROM ", "(SELECT *, 1 AS b FROM ", "files", ") a", ""), "derived pairs": nest(8, "SELECT * FROM ", "(SELECT a.*,b.* FROM files a,", "files b", ") b", ""), "values columns": row("SELECT a.* FROM (VALUES (1", ",1", ")) a"),
	}
}

// nearColumns names many columns that do not exist, among as many as there may be that are spelled alike.
func nearColumns(bytes int) string {
	name := strings.Repeat("a", 55)
	from := nest(7, " FROM ", "(SELECT *,*,* FROM ", "(SELECT 1 AS "+name+"bcd) m", ") m", "")(bytes)
	return row("SELECT 1", ","+name+"%d", from)(bytes)
}

// crossed has many relations, and many conditions that look at none of them.
func crossed(relation, head, condition, tail string) shape {
	return func(bytes int) string {
		return row(row("SELECT 1 FROM files z", relation, "")(bytes*45/100)+head, condition, tail)(bytes)
	}
}

// setLists sets many columns from one query, which the parser holds once for each.
func setLists(bytes, columns int) string {
	head := "UPDATE files SET (name" + strings.Repeat(",id", columns) + ")=(SELECT 1"
	return row(head, ",1", ")")(max(bytes, len(head)+2))
}

func nestedSets(int) string {
	source := "SELECT 1"
	for range 5 {
		source = "WITH x AS (UPDATE files SET (id" + strings.Repeat(",id", 7) + ")=(" + source + ")) SELECT 1"
	}
	return source
}

// worst gives texts of exactly maxText bytes: each statement, each expression in a place
// where rows of a scoped table are read, and so many mixtures. Many are refused for the
// number of their nodes; so there is each in a third of the length, the rest being blank.
func worst(mixtures int, seed uint64) map[string]string {
	texts := map[string]string{}
	parts := expressions()
	for suffix, bytes := range map[string]int{"": maxText, third: maxText / 3} {
		for name, s := range worstStatements() {
			texts[name+suffix] = padded(s(bytes))
		}
		for name, s := range parts {
			texts[name+" in SELECT"+suffix] = padded(around("SELECT 1,", s, " FROM messages m WHERE m.server_id = 'a'", bytes))
			texts[name+" in WHERE"+suffix] = padded(around("SELECT * FROM messages m WHERE m.server_id = 'a' AND ", s, " IS NULL", bytes))
		}
	}
	names := slices.Sorted(maps.Keys(parts))
	random := rand.New(rand.NewPCG(seed, seed))
	for i := range mixtures {
		texts["mixture "+strconv.Itoa(i)] = padded(mixture(random, parts, names))
	}
	return texts
}

func around(head string, s shape, tail string, bytes int) string {
	return head + s(bytes-len(head)-len(tail)) + tail
}

// mixture puts several shapes into one statement, each in a share of its length.
func mixture(random *rand.Rand, parts map[string]shape, names []string) string {
	frames := [][]string{
		{"SELECT ", ", ", ", ", " FROM messages m, files f WHERE ", " IS NULL"},
		{"SELECT (SELECT ", " FROM files LIMIT 1), ", " FROM end_users m LEFT JOIN messages ON ", " IS NULL WHERE ", " IS NULL"},
		{"WITH a AS (SELECT ", " FROM messages m) UPDATE messages m SET content = ", " WHERE ", " IS NULL"},
		{"INSERT INTO messages (id, server_id, content) SELECT ", ", ?, ", " FROM files m WHERE ", " IS NULL"},
		{"DELETE FROM messages m USING files f WHERE ", " IS NULL OR ", " IS NULL RETURNING *, ", ""},
	}
	frame := frames[random.IntN(len(frames))]
	share := (maxText - len(strings.Join(frame, ""))) / (len(frame) - 1)
	text := ""
	for i, piece := range frame {
		text += piece
		if i < len(frame)-1 {
			text += parts[names[random.IntN(len(names))]](share)
		}
	}
	return text
}

// padded makes a text exactly as long as it may be.
func padded(text string) string {
	if len(text) > maxText {
		return text[:maxText]
	}
	return text + strings.Repeat(" ", maxText-len(text))
}
