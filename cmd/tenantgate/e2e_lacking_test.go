package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestLacking has triggers and defaults of the operator's own fail since the statement role may not do what they do:
// both front ends give the statement's table and what to ask for, and the log names what is to be mended.
func TestLacking(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	in.admin(t, "CREATE TABLE public.audit (title text)", "CREATE SEQUENCE public.numbers",
		"CREATE FUNCTION public.log_title() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.audit VALUES (NEW.title); RETURN NEW; END $$",
		"CREATE TRIGGER log AFTER INSERT ON public.conversations FOR EACH ROW EXECUTE FUNCTION public.log_title()",
		"CREATE FUNCTION public.log_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.nowhere VALUES (NEW.name); RETURN NEW; END $$",
		"CREATE TRIGGER log AFTER UPDATE ON public.end_users FOR EACH ROW EXECUTE FUNCTION public.log_name()",
		"ALTER TABLE public.files ALTER size_bytes SET DEFAULT nextval('public.numbers')", "REVOKE DELETE ON public.messages FROM PUBLIC, tenantgate_statement")
	conn := in.as(t, in.ServerID, in.APIKey)
	const behind, right = "a trigger, default, function or row-level security policy behind table ", " failed: the database role that it runs as lacks a permission"
	for _, c := range []struct{ rest, wire, state, message, hint, log string }{
		{"INSERT INTO conversations (id, server_id, title) VALUES ('c', ?, 'secret')", "INSERT INTO conversations (id, title) VALUES ('c', 'secret')", "42501", behind + "conversations" + right,
			"ask the operator to grant what it needs; the service's log has the error", `error="permission denied for table audit" context="PL/pgSQL function log_title() line 1 at SQL statement"`},
		{"UPDATE end_users SET name = 'secret' WHERE server_id = ?", "UPDATE end_users SET name = 'secret'", "42P01", behind + "end_users failed: it names something that does not exist, or that is not on its search path",
			"ask the operator to correct it; the service's log has the error", `error="relation \"public.nowhere\" does not exist" context="PL/pgSQL function log_name() line 1 at SQL statement"`},
		{"INSERT INTO files (server_id, name) VALUES (?, 'secret')", "INSERT INTO files (name) VALUES ('secret')", "42501", behind + "files" + right,
			"ask the operator to grant what it needs; the service's log has the error", `error="permission denied for sequence numbers"`},
		{"DELETE FROM messages WHERE server_id = ? AND content = 'secret'", "DELETE FROM messages WHERE content = 'secret'", "42501", "the service's database role lacks a grant on table messages that this DELETE needs",
			"ask the operator for the GRANT; the service's log has the error", `error="permission denied for table messages"`},
	} {
		var args []any // a WHERE takes none for the scope column, VALUES does
		if strings.HasPrefix(c.rest, "INSERT") {
			args = append(args, in.ServerID)
		}
		r := in.query(t, c.rest, args...)
		var answer struct {
			Error struct{ Code, Message, SQLState, Hint string }
		}
		if err := json.Unmarshal([]byte(r.body), &answer); err != nil || r.status != 422 || answer.Error.SQLState != c.state || answer.Error.Message != c.message || answer.Error.Hint != c.hint {
			t.Errorf("%s: %d %s", c.rest, r.status, r.body)
		}
		waitFor(t, func() bool { return strings.Count(in.stderr(t), c.log) == 1 })
		_, err := conn.Exec(t.Context(), c.wire)
		if e := (*pgconn.PgError)(nil); !errors.As(err, &e) || e.Code != c.state || e.Message != c.message || !strings.EqualFold(e.Hint, c.hint+".") {
			t.Errorf("%s: %v", c.wire, err)
		}
		waitFor(t, func() bool { return strings.Count(in.stderr(t), c.log) > 1 }) // a Query message's statement runs again with its constants
	}
	if said := in.stderr(t); strings.Contains(said, "secret") {
		t.Errorf("logged %s", said)
	}
}
