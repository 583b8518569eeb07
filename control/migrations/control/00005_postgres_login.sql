-- What a server's API key is checked against when it comes as a password of Postgres'
-- protocol (SCRAM-SHA-256, RFC 5802): made with the key, from its text, by the service. A key
-- from before has none; it stays good over HTTP, and its server's next key has one.

-- +goose Up

ALTER TABLE tenantgate.server_keys
    ADD COLUMN stored_key bytea,
    ADD COLUMN server_key bytea,
    ADD CONSTRAINT server_keys_login_shape CHECK (
        (stored_key IS NULL) = (server_key IS NULL) AND octet_length(stored_key) = 32 AND octet_length(server_key) = 32);

-- The salt of a server is derived from this and its id, whether there is such a server or
-- not: every replica has the same answer for a stranger, today and tomorrow. It is never
-- changed, since the keys' verifiers are made with it. A random UUID has 122 random bits.
CREATE TABLE tenantgate.login_salt (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    secret bytea NOT NULL,
    CONSTRAINT login_salt_secret_shape CHECK (octet_length(secret) = 32)
);
INSERT INTO tenantgate.login_salt (secret) SELECT sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- A changed key is told with its server, whose verifier it is part of. Only a hash begins
-- with Postgres' mark of bytes: an id may have the same two characters in it, and is told
-- as it is.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenantgate.announce_row() RETURNS trigger
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
            what := what || ' ' || CASE TG_ARGV[i] WHEN 'hash' THEN substr(changed ->> 'hash', 3) ELSE changed ->> TG_ARGV[i] END;
        END LOOP;
        PERFORM tenantgate.announce(what);
    END LOOP;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

DROP TRIGGER announce ON tenantgate.server_keys;
CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.server_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('key', 'hash', 'server_id');
