package doctor

// pry makes a function that runs as its owner and that the role may not call by itself.
const pry = `CREATE FUNCTION pry(text) RETURNS bool IMMUTABLE LANGUAGE sql SECURITY DEFINER AS 'SELECT true'; REVOKE ALL ON FUNCTION pry(text) FROM PUBLIC; GRANT EXECUTE ON FUNCTION pry(text) TO @owner`

var definerFaults = []fault{
	{name: "a rule", sql: `CREATE RULE copy AS ON DELETE TO items DO ALSO DELETE FROM unnamed`, want: "leak hidden-rule copy on public.items"},
	{name: "a trigger", sql: `CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER tell BEFORE INSERT ON items EXECUTE FUNCTION tell()`, want: "risk hidden-definer public.tell()", left: "hidden-definer"},
	{name: "a harmless trigger", sql: `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER touch BEFORE INSERT ON items EXECUTE FUNCTION touch()`},
	{name: "a default", sql: `CREATE FUNCTION newest() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::text'; REVOKE ALL ON FUNCTION newest() FROM PUBLIC; ALTER TABLE items ALTER name SET DEFAULT newest()`, want: "risk hidden-definer public.newest()", left: "hidden-definer"},
	{name: "a rule on a shared table", sql: `CREATE RULE copy AS ON INSERT TO countries DO ALSO DELETE FROM unnamed`, want: "leak hidden-rule copy on public.countries", left: "hidden-rule"},
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
}
