package upstream

import "strings"

// fires makes a table orders_NAME with a trigger that runs PL/pgSQL.
func fires(name, body string) string {
	return "CREATE TABLE orders_" + name + " (id int, v text); GRANT ALL ON orders_" + name + " TO PUBLIC; CREATE FUNCTION fire_" + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body +
		"; RETURN NEW; END $$; CREATE TRIGGER fire BEFORE INSERT ON orders_" + name + " FOR EACH ROW EXECUTE FUNCTION fire_" + name + "(); "
}

const (
	behind    = "a trigger, default, function or row-level security policy behind table "
	noRight   = " failed: the database role that it runs as lacks a permission"
	notThere  = " failed: it names something that does not exist, or that is not on its search path"
	askGrant  = "ask the operator to grant what it needs; the service's log has the error"
	askRepair = "ask the operator to correct it; the service's log has the error"
	forGrant  = "ask the operator for the GRANT; the service's log has the error"
	theirs    = "7secret\nPL/pgSQL function secret() line 1 at SQL statement" // a value of the caller's
)

// lackingCase is a statement on one table that fails for what the database lacks.
type lackingCase struct {
	table, sql     string // orders_ and the table's name are written as $T
	state, message string // $T, too
	hint           string
	log            string // of Postgres' words and the place; "": no line
}

const lackingSchema = `
	CREATE SCHEMA back; CREATE TABLE audit (id int, v text); CREATE TABLE back.audit (id int); CREATE SEQUENCE numbers; CREATE SCHEMA open; GRANT USAGE ON SCHEMA open TO PUBLIC; CREATE TABLE open.orders_namesake (id int);
	CREATE FUNCTION counted(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN EXISTS (SELECT 1 FROM audit WHERE id = $1); END $$;
	CREATE FUNCTION twice(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN back.twice($1); END $$;
	CREATE FUNCTION closed(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 1; END $$; REVOKE ALL ON FUNCTION closed FROM PUBLIC;
	CREATE FUNCTION audited() RETURNS int LANGUAGE sql STABLE AS $$ SELECT max(id) FROM audit $$;
	CREATE FUNCTION lost() RETURNS int LANGUAGE sql AS $$ SELECT max(id) FROM nowhere $$;
	CREATE FUNCTION rows_of(text) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT id FROM %I', $1); END $$;
	CREATE TABLE orders_default (id int DEFAULT nextval('numbers'), v text);
	CREATE TABLE orders_sqldefault (id int DEFAULT lost(), v text);
	CREATE TABLE orders_check (id int CHECK (counted(id)), v text);
	CREATE TABLE orders_generated (id int, v text, twice int GENERATED ALWAYS AS (twice(id)) STORED);
	CREATE TABLE orders_closed (id int, v text, twice int GENERATED ALWAYS AS (closed(id)) STORED);
	CREATE TABLE orders_policy (id int, v text); ALTER TABLE orders_policy ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON orders_policy USING (id = audited()) WITH CHECK (id < 7);
	CREATE TABLE orders_subquery (id int, v text); ALTER TABLE orders_subquery ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON orders_subquery USING (id = (SELECT max(id) FROM audit));
	GRANT ALL ON orders_default, orders_sqldefault, orders_check, orders_generated, orders_closed, orders_policy, orders_subquery TO PUBLIC;
	CREATE TABLE orders_own (id int, v text); CREATE SCHEMA shut; CREATE TABLE shut.orders_shut (id int); GRANT ALL ON shut.orders_shut TO PUBLIC; `

func lackingCases() []lackingCase {
	const put = "INSERT INTO $T VALUES (7, $1)"
	at := func(function, kind string) string {
		return ` context="PL/pgSQL function ` + function + ` line 1 at ` + kind + `"`
	}
	return []lackingCase{
		{"ungranted", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for table audit"` + at("fire_ungranted()", "SQL statement")},
		{"several", put, "42501", strings.TrimSuffix(behind, "table ") + "a table of the statement" + noRight, askGrant, `error="permission denied for table audit"` + at("fire_several()", "SQL statement")},
		{"unused", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for schema back"` + at("fire_unused()", "SQL statement")},
		{"namesake", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for table $T"` + at("fire_namesake()", "SQL statement")},
		{"sequence", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for sequence numbers"` + at("fire_sequence()", "PERFORM")},
		{"missing", put, "42P01", behind + "$T" + notThere, askRepair, `error="relation \"nowhere\" does not exist"` + at("fire_missing()", "SQL statement")},
		{"column", put, "42703", behind + "$T" + notThere, askRepair, `error="column \"nothing\" of relation \"audit\" does not exist"` + at("fire_column()", "SQL statement")},
		{"function", put, "42883", behind + "$T" + notThere, askRepair, `error="function nothing(integer) does not exist"` + at("fire_function()", "PERFORM")},
		{"schema", put, "3F000", behind + "$T" + notThere, askRepair, `error="schema \"nowhere\" does not exist"` + at("fire_schema()", "PERFORM")},
		{"nested", put, "42P01", behind + "$T" + notThere, askRepair, `error="relation \"nowhere\" does not exist"` + at("fire_missing()", "SQL statement")},
		{"default", "INSERT INTO $T (v) VALUES ($1)", "42501", behind + "$T" + noRight, askGrant, `error="permission denied for sequence numbers"`},
		{"sqldefault", "INSERT INTO $T (v) VALUES ($1)", "42P01", behind + "$T" + notThere, askRepair, `context="SQL function \"lost\" during inlining"`},
		{"check", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for table audit"` + at("counted(integer)", "RETURN")},
		{"generated", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for schema back"` + at("twice(integer)", "RETURN")},
		{"closed", put, "42501", behind + "$T" + noRight, askGrant, `error="permission denied for function closed"`},
		{"policy", "SELECT * FROM $T", "42501", behind + "$T" + noRight, askGrant, `error="permission denied for table audit" context="SQL function \"audited\" statement 1"`},
		{"subquery", "SELECT * FROM $T", "42501", behind + "$T" + noRight, askGrant, `error="permission denied for table audit"`},
		{"policy", put, "42501", "a row-level security policy behind table $T does not admit the row", "", ""},
		{"own", put, "42501", "the service's database role lacks a grant on table $T that this INSERT needs", forGrant, `error="permission denied for table $T"`},
		{"own", "SELECT * FROM $T", "42501", "the service's database role lacks a grant on table $T that this SELECT needs", forGrant, `error="permission denied for table $T"`},
		{"shut", "SELECT * FROM shut.$T", "42501", "the service's database role lacks the USAGE of the schema of table $T", forGrant, `error="permission denied for schema shut"`},
		// What may hold a value is in no line.
		{"dynamic", put, "42P01", behind + "$T" + notThere, askRepair, at("fire_dynamic()", "EXECUTE")},
		{"inner", put, "42P01", behind + "$T" + notThere, askRepair, at("rows_of(text)", "RETURN QUERY")},
		{"made", put, "42P01", behind + "$T" + notThere, askRepair, at("fire_made()", "assignment")},
		{"read", put, "42P01", behind + "$T" + notThere, askRepair, at("fire_read()", "PERFORM")},
		{"raised", put, "P0001", "Postgres refused the statement with SQLSTATE P0001", "", ""},
		{"denied", put, "42501", "Postgres refused the statement with SQLSTATE 42501", "", ""},
		{"absent", put, "42P01", "Postgres refused the statement with SQLSTATE 42P01", "", ""},
	}
}

func lackingTriggers() (sql string) {
	for name, body := range map[string]string{
		"several":   "INSERT INTO audit VALUES (NEW.id, NEW.v)",
		"ungranted": "INSERT INTO audit VALUES (NEW.id, NEW.v)", "unused": "INSERT INTO back.audit VALUES (NEW.id)", "namesake": "INSERT INTO open.orders_namesake VALUES (NEW.id)", "sequence": "PERFORM nextval('numbers')",
		"missing": "INSERT INTO nowhere VALUES (NEW.v)", "column": "INSERT INTO audit (nothing) VALUES (NEW.v)", "function": "PERFORM nothing(NEW.id)", "schema": "PERFORM nowhere.nothing(NEW.id)",
		"nested":  "INSERT INTO orders_missing VALUES (NEW.id, NEW.v)",
		"dynamic": "EXECUTE format('INSERT INTO %I VALUES (1)', NEW.v)", "inner": "PERFORM rows_of(NEW.v)", "read": `PERFORM ('"' || NEW.v || '"')::regclass`,
		"made":   `NEW.v := query_to_xml(format('SELECT * FROM %I', NEW.v), true, true, '')`,
		"raised": "RAISE EXCEPTION 'no %', NEW.v USING DETAIL = NEW.v, HINT = NEW.v", "denied": "RAISE insufficient_privilege USING MESSAGE = NEW.v", "absent": "RAISE undefined_table USING MESSAGE = NEW.v",
	} {
		sql += fires(name, body)
	}
	return sql
}
