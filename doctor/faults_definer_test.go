package doctor

import (
	"strings"
	"testing"
)

// pry makes a function that runs as its owner and that the role may not call by itself.
const pry = `CREATE FUNCTION pry(text) RETURNS bool IMMUTABLE LANGUAGE sql SECURITY DEFINER AS 'SELECT true'; REVOKE ALL ON FUNCTION pry(text) FROM PUBLIC; GRANT EXECUTE ON FUNCTION pry(text) TO @owner`

var definerFaults = []fault{
	{name: "a rule", sql: `CREATE RULE copy AS ON DELETE TO items DO ALSO DELETE FROM unnamed`, want: "breach hidden-rule copy on public.items", left: "hidden-rule"},
	{name: "a trigger", sql: `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER tell BEFORE INSERT ON items EXECUTE FUNCTION tell()`, want: "risk hidden-definer public.tell()", left: "hidden-definer"},
	{name: "a harmless trigger", sql: `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER touch BEFORE INSERT ON items EXECUTE FUNCTION touch()`},
	{name: "a default", sql: `CREATE FUNCTION newest() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; REVOKE ALL ON FUNCTION newest() FROM PUBLIC; ALTER TABLE items ALTER name SET DEFAULT newest()`, want: "risk hidden-definer public.newest()", left: "hidden-definer"},
	{name: "a rule on a shared table", sql: `CREATE RULE copy AS ON INSERT TO countries DO ALSO DELETE FROM unnamed`, want: "risk hidden-rule copy on public.countries", left: "hidden-rule"},
	{name: "a trigger on a shared table", sql: `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER tell BEFORE INSERT ON countries EXECUTE FUNCTION tell()`, want: "risk hidden-definer public.tell()", left: "hidden-definer"},
	{name: "a check on a part of a shared table", sql: pry + `; CREATE TABLE part (CHECK (pry(code))) INHERITS (countries)`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a domain's default", sql: pry + `; CREATE DOMAIN word AS text DEFAULT pry('')::text; ALTER TABLE items ALTER name TYPE word`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a domain's check", sql: pry + `; CREATE DOMAIN word AS text CHECK (pry(VALUE)); CREATE DOMAIN words AS word; ALTER TABLE items ALTER name TYPE words`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "an index's expression", sql: pry + `; CREATE INDEX pried ON items (pry(name))`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "an index's predicate", sql: pry + `; CREATE INDEX pried ON countries (code) WHERE pry(code)`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a generated column", sql: pry + `; ALTER TABLE items ADD pried bool GENERATED ALWAYS AS (pry(name)) STORED`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a trigger's condition", sql: pry + `; CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER touch BEFORE INSERT ON items FOR EACH ROW WHEN (pry(NEW.name)) EXECUTE FUNCTION touch()`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a function that calls one", sql: pry + `; CREATE FUNCTION outward(text) RETURNS bool IMMUTABLE BEGIN ATOMIC SELECT pry($1); END; ALTER TABLE items ADD CONSTRAINT fair CHECK (outward(name))`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "an operator of one", sql: pry + `; CREATE OPERATOR @@@ (RIGHTARG = text, FUNCTION = pry); ALTER TABLE items ADD CONSTRAINT fair CHECK (@@@ name)`, want: "risk hidden-definer public.pry(text)", left: "hidden-definer"},
	{name: "a rule that a statement can't come to", sql: `CREATE TABLE part () INHERITS (items); CREATE RULE copy AS ON DELETE TO part DO ALSO DELETE FROM unnamed`, want: "risk hidden-rule copy on public.part", left: "hidden-rule"},
	{name: "a rule that does nothing", sql: `CREATE RULE never AS ON DELETE TO items DO INSTEAD NOTHING`, want: "risk hidden-rule never on public.items", left: "hidden-rule"},
	{name: "a rule that does nothing on a condition", sql: `CREATE RULE kept AS ON DELETE TO items WHERE EXISTS (SELECT FROM orders WHERE total > 10) DO INSTEAD NOTHING`, want: "breach hidden-rule kept on public.items", at: "public.items", left: "hidden-rule"},
	{name: "a rule behind a reference", sql: `CREATE TABLE log (server_id text, id text, FOREIGN KEY (server_id, id) REFERENCES orders ON DELETE CASCADE); CREATE RULE copy AS ON DELETE TO log DO ALSO DELETE FROM unnamed`,
		want: "breach hidden-rule copy on public.log\nrisk hidden-foreign-into log_server_id_id_fkey on public.log", at: "public.orders", left: "hidden-rule\nhidden-foreign-into"},
	{name: "a caller's trigger", sql: unwalled + reads("touch", "UPDATE items SET name = 'x' WHERE order_id = NEW.id") + trigger("orders", "touch"), want: "breach wall-missing public.items\nbreach hidden-function public.touch()", open: "public.items", at: "public.orders", left: "", mend: true},
	{name: "a caller's trigger behind the wall", sql: reads("touch", "UPDATE items SET name = 'x' WHERE order_id = NEW.id") + trigger("orders", "touch")},
	{name: "a caller's trigger that names no table of ours", sql: unwalled + reads("touch", "INSERT INTO unnamed VALUES (1)") + trigger("orders", "touch"), want: "breach wall-missing public.items", open: "public.items"},
	{name: "a caller's trigger whose SQL nobody knows", sql: unwalled + reads("touch", "EXECUTE format('UP' || 'DATE %I SET name = 1', 'it' || 'ems')") + trigger("countries", "touch"), want: "breach wall-missing public.items", open: "public.items"},
	{name: "one that a statement comes to", sql: unwalled + reads("touch", "EXECUTE format('UP' || 'DATE %I SET name = 1', 'it' || 'ems')") + trigger("orders", "touch"), want: "breach wall-missing public.items\nbreach hidden-function public.touch()", open: "public.items", at: "public.orders"},
	{name: "one that calls a function", sql: unwalled + reads("Deep", "UPDATE \"items\" SET name = 'x'") + reads("touch", "PERFORM \"Deep\"()") + trigger("orders", "touch"), want: "breach wall-missing public.items\nbreach hidden-function public.\"Deep\"()", open: "public.items", at: "public.orders"},
	{name: "one that reads a view", sql: "CREATE VIEW every AS SELECT * FROM items; " + reads("touch", "NEW.total := (SELECT count(*) FROM every)") + trigger("orders", "touch"), want: "breach hidden-function public.touch()", at: "public.orders", left: "hidden-function"},
	{name: "a definer's trigger that names a table", sql: reads("touch", "NEW.total := (SELECT count(*) FROM items)") + "ALTER FUNCTION touch() SECURITY DEFINER; " + trigger("orders", "touch"), want: "breach hidden-definer public.touch()", at: "public.orders", left: "hidden-definer"},
	{name: "a default whose function calls a definer", sql: `CREATE FUNCTION most() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(id) FROM public.orders'; REVOKE ALL ON FUNCTION most() FROM PUBLIC; CREATE FUNCTION newest() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN most(); END'; ALTER TABLE items ALTER name SET DEFAULT newest()`,
		want: "breach hidden-definer public.most()", at: "public.items", left: "hidden-definer"},
	{name: "a trigger that fires as the owner", sql: reads("touch", "UPDATE items SET name = 'x'") + "CREATE TABLE log (server_id text, id text, FOREIGN KEY (server_id, id) REFERENCES orders ON DELETE CASCADE); " + strings.Replace(trigger("log", "touch"), "INSERT OR UPDATE", "DELETE", 1),
		want: "breach hidden-function public.touch()\nrisk hidden-foreign-into log_server_id_id_fkey on public.log", says: "runs as an owner", at: "public.orders", left: "hidden-function\nhidden-foreign-into"},
	{name: "a trigger of a partition that a row leaves", sql: partitioned + "REVOKE INSERT, DELETE ON items FROM @role; " + reads("gone", "PERFORM count(*) FROM orders") + `ALTER FUNCTION gone() SECURITY DEFINER; CREATE TRIGGER gone BEFORE DELETE ON one FOR EACH ROW EXECUTE FUNCTION gone()`,
		policy: strings.Replace(shop, "items: {scoped: true", "items: {access: [select, update], scoped: true", 1), want: "breach hidden-definer public.gone()", at: "public.items", left: "hidden-definer"},
	{name: "a trigger of a partition that a row comes to", sql: partitioned + "REVOKE INSERT, DELETE ON items FROM @role; " + reads("come", "PERFORM count(*) FROM orders") + `ALTER FUNCTION come() SECURITY DEFINER; CREATE TRIGGER come AFTER INSERT ON one FOR EACH ROW EXECUTE FUNCTION come()`,
		policy: strings.Replace(shop, "items: {scoped: true", "items: {access: [select, update], scoped: true", 1), want: "breach hidden-definer public.come()", at: "public.items", left: "hidden-definer"},
	{name: "a trigger of a table without partitions that no statement comes to", sql: "REVOKE INSERT, DELETE ON items FROM @role; CREATE TABLE part () INHERITS (items); " + reads("gone", "PERFORM count(*) FROM orders") + `ALTER FUNCTION gone() SECURITY DEFINER; CREATE TRIGGER gone BEFORE DELETE ON part FOR EACH ROW EXECUTE FUNCTION gone()`,
		policy: strings.Replace(shop, "items: {scoped: true", "items: {access: [select, update], scoped: true", 1), want: "risk hidden-definer public.gone()", left: "hidden-definer"},
	{name: "a shared table's policy that asks a definer", sql: guarded(`code = ANY (pried())`), want: "breach hidden-definer public.pried()", at: "public.countries", left: "hidden-definer"},
	{name: "one for another role", sql: strings.Replace(guarded(`code = ANY (pried())`), "TO @role", "TO @other", 1)},
	{name: "one that is switched off", sql: guarded(`code = ANY (pried())`) + "ALTER TABLE countries DISABLE ROW LEVEL SECURITY"},
	{name: "a shared table's policy that asks a view", sql: "CREATE VIEW every AS SELECT * FROM items; GRANT SELECT ON every TO @other; " + guarded(`code IN (SELECT name FROM every)`), want: "breach hidden-function guard on public.countries", at: "public.countries", left: "hidden-function"},
	{name: "a shared table's policy that asks a walled table", sql: guarded(`code IN (SELECT name FROM items)`)},
	{name: "a shared table's policy that asks an open one", sql: unwalled + guarded(`code IN (SELECT name FROM items)`), want: "breach wall-missing public.items\nbreach hidden-function guard on public.countries", open: "public.items", at: "public.countries"},
	{name: "a body that leaves its search_path", sql: reads("touch", "PERFORM set_config('search_path', 'public', false)") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that sets it", sql: reads("touch", "SET search_path TO public") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "bodies that set it for the transaction", sql: reads("touch", "PERFORM set_config('search_path', 'public', true); PERFORM set_config('app.user', NEW.id, true)") + trigger("orders", "touch") + reads("local", "SET LOCAL search_path TO public") + trigger("items", "local")},
	{name: "a body that sets its schema", sql: reads("touch", "SET SCHEMA 'public'") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that sets it in quotes", sql: reads("touch", `SET SESSION "Search_Path" TO public`) + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that calls in quotes", sql: reads("touch", `PERFORM "set_config"('search_path', 'public', false)`) + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that sets what the view of settings shows", sql: reads("touch", "UPDATE pg_settings SET setting = 'public' WHERE name = 'search_path'") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that takes all settings back", sql: reads("touch", "RESET ALL") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "bodies that set a schema of something else, or for the transaction", sql: reads("touch", "SET LOCAL SCHEMA 'public'; PERFORM setting FROM pg_settings; ALTER TABLE unnamed SET SCHEMA far") + trigger("orders", "touch")},
	{name: "a parsed body that sets it", sql: parsed("set_config('search_path', 'public', false)"), want: "breach hidden-setting public.said()", at: "public.items", left: "hidden-setting"},
	{name: "a parsed body that updates the view of settings", sql: strings.Replace(parsed("''"), "ATOMIC", "ATOMIC UPDATE pg_settings SET setting = 'public' WHERE name = 'search_path';", 1), want: "breach hidden-setting public.said()", at: "public.items", left: "hidden-setting"},
	{name: "a parsed body that sets for the transaction", sql: parsed("set_config('search_path', 'public', true) || set_config('app.user', 'x', true)")},
	{name: "a parsed body that reads the view of settings", sql: parsed("(SELECT setting FROM pg_settings WHERE name = 'search_path')")},
	{name: "a parsed body whose SQL nobody knows", sql: unwalled + parsed("query_to_xml('select * from it' || 'ems', true, true, '')::text"), want: "breach wall-missing public.items\nbreach hidden-function public.said()", open: "public.items", at: "public.items"},
	{name: "a parsed body that names a table", sql: unwalled + parsed("(SELECT max(name) FROM items)"), want: "breach wall-missing public.items\nbreach hidden-function public.said()", open: "public.items", at: "public.items"},
	{name: "a body that sets it beside another call", sql: reads("touch", "PERFORM set_config('search_path', 'public', false), coalesce(false, true)") + trigger("orders", "touch"), want: "breach hidden-setting public.touch()", at: "public.orders", left: "hidden-setting"},
	{name: "a body that sets it for the transaction twice", sql: reads("touch", "PERFORM set_config('search_path', lower(concat('pub', 'lic')), true), set_config('app.user', NEW.id, true)") + trigger("orders", "touch")},
	{name: "a body that leaves another setting", sql: reads("touch", "PERFORM set_config('app.user', NEW.id, false)") + trigger("orders", "touch")},
}

// Ensure that a trigger which fires after what a reference does runs as the owner of its table from Postgres 18 on, as
// one before it does everywhere.
func TestTriggerAfterReference(t *testing.T) {
	c := openClinic(t)
	url := c.patient(t)
	c.exec(t, url, reads("touch", "UPDATE items SET name = 'x'")+"CREATE TABLE log (server_id text, id text, FOREIGN KEY (server_id, id) REFERENCES orders ON DELETE CASCADE); "+
		strings.Replace(trigger("log", "touch"), "BEFORE INSERT OR UPDATE", "AFTER DELETE", 1)+noStatistics)
	s, err := open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close(t.Context())
	want := "risk hidden-foreign-into log_server_id_id_fkey on public.log"
	if s.release >= 180000 {
		want = "breach hidden-function public.touch()\n" + want
	}
	r := c.examine(t, url)
	if got := list(r.Findings); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	c.agree(t, url, r, nil)
}

// unwalled takes the wall of a table away.
const unwalled = `DROP POLICY tenantgate_server ON items; ALTER TABLE items DISABLE ROW LEVEL SECURITY; `

// guarded gives a shared table row-level security of its own.
func guarded(expression string) string {
	return "CREATE FUNCTION pried() RETURNS text[] LANGUAGE sql SECURITY DEFINER AS 'SELECT array_agg(name) FROM public.items'; REVOKE ALL ON FUNCTION pried() FROM PUBLIC; " +
		"ALTER TABLE countries ENABLE ROW LEVEL SECURITY; CREATE POLICY guard ON countries TO @role USING (" + expression + "); "
}

// parsed makes a function that Postgres keeps as a tree, and has a default call it.
func parsed(expression string) string {
	return "CREATE FUNCTION said() RETURNS text BEGIN ATOMIC SELECT " + expression + "; END; ALTER TABLE items ALTER name SET DEFAULT said(); "
}

// reads makes a trigger function of the caller's rights, and trigger a trigger of one.
func reads(name, body string) string {
	return `CREATE FUNCTION "` + name + `"() RETURNS trigger LANGUAGE plpgsql AS $_$BEGIN ` + body + `; RETURN NEW; END$_$; `
}

func trigger(table, function string) string {
	return `CREATE TRIGGER fires BEFORE INSERT OR UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION "` + function + `"(); `
}
