-- The keys that services sign server ids with, for row-level security in the database that
-- statements run in (package wall). That database verifies with what it derived of them and
-- tells nobody; the services can't read it there, so the secrets are here too.

-- +goose Up

CREATE TABLE tenantgate.wall_keys (
    id         integer PRIMARY KEY, -- the highest one signs
    secret     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    CONSTRAINT wall_keys_id_positive CHECK (id > 0),
    CONSTRAINT wall_keys_secret_shape CHECK (octet_length(secret) = 32)
);

CREATE CONSTRAINT TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON tenantgate.wall_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tenantgate.announce_row('wall', 'id');
CREATE TRIGGER announce_truncate AFTER TRUNCATE ON tenantgate.wall_keys EXECUTE FUNCTION tenantgate.announce_truncate();
