-- How every process learns of a change within a second.
--
-- revision holds one number. Each change raises it, and tells it on the channel
-- "tenantgate" with what was changed: "<number> <kind> <key>". A listener that sees a gap
-- in the numbers has missed something; one that hears nothing finds the number moved when
-- it polls.
--
-- The triggers are deferred to the commit: the row of revision is then the last lock that
-- a transaction takes, so writers queue for it but can't deadlock on it, and the numbers
-- are in commit order. The queue costs little: Postgres itself lets one transaction at a
-- time commit when it has notified.

-- +goose Up

CREATE TABLE tenantgate.revision (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    seq bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO tenantgate.revision (seq) VALUES (1);

-- +goose StatementBegin
CREATE FUNCTION tenantgate.announce(what text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    n bigint;
BEGIN
    UPDATE tenantgate.revision SET seq = seq + 1 RETURNING seq INTO STRICT n;
    PERFORM pg_notify('tenantgate', n || ' ' || what);
END
$$;
-- +goose StatementEnd

-- One function for all tables: the kind and the columns of the key are the trigger's
-- arguments. Old and new row are both told, so that a changed key drops both.
-- +goose StatementBegin
CREATE FUNCTION tenantgate.announce_row() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET bytea_output = hex
AS $$
DECLARE
    changed jsonb;
    what    text;
BEGIN
    FOREACH changed IN ARRAY ARRAY[
        CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
        CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END]
    LOOP
        CONTINUE WHEN changed IS NULL;
        what := TG_ARGV[0];
        FOR i IN 1 .. TG_NARGS - 1 LOOP
            what := what || ' ' || replace(changed ->> TG_ARGV[i], '\x', '');
        END LOOP;
        PERFORM tenantgate.announce(what);
    END LOOP;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- A token's projects are part of the token. When the token itself is gone, its own
-- trigger has told so.
-- +goose StatementBegin
CREATE FUNCTION tenantgate.announce_token() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tenantgate.announce('token ' || encode(t.hash, 'hex')) FROM tenantgate.tokens t
        WHERE (TG_OP <> 'INSERT' AND t.id = OLD.token_id) OR (TG_OP <> 'DELETE' AND t.id = NEW.token_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION tenantgate.announce_truncate() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tenantgate.announce('all');
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.projects
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('project', 'id');
CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.servers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('server', 'project_id', 'id');
CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.server_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('key', 'hash');
CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.tokens
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('token', 'hash');
CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.token_projects
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_token();

CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.projects EXECUTE FUNCTION tenantgate.announce_truncate();
CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.servers EXECUTE FUNCTION tenantgate.announce_truncate();
CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.server_keys EXECUTE FUNCTION tenantgate.announce_truncate();
CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.tokens EXECUTE FUNCTION tenantgate.announce_truncate();
CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.token_projects EXECUTE FUNCTION tenantgate.announce_truncate();
