-- The control store: who may call tenantgate, and for which server.
-- Identifiers are text in the C collation, so that order and equality mean the same on
-- every machine. Secrets are kept as SHA-256 hashes only. Times are whole milliseconds,
-- so that what a caller was shown is exactly what a cursor compares with.

-- +goose Up

-- +goose StatementBegin
CREATE FUNCTION tenantgate.now_ms() RETURNS timestamptz
    LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT date_trunc('milliseconds', clock_timestamp()) $$;
-- +goose StatementEnd

CREATE TABLE tenantgate.projects (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL,
    policy     text NOT NULL DEFAULT '', -- name of the policy assigned to it; '' for none
    created_at timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    CONSTRAINT projects_id_shape CHECK (id ~ '^[!-.0-~]{1,128}$' AND id NOT IN ('.', '..')),
    CONSTRAINT projects_name_shape CHECK (char_length(name) BETWEEN 1 AND 100 AND name !~ '[\x01-\x1f\x7f]'),
    CONSTRAINT projects_policy_shape CHECK (char_length(policy) <= 100)
);

-- A project that has servers can't be deleted: their rows in the tenants' database would
-- be left without anybody who reaches them.
CREATE TABLE tenantgate.servers (
    id          text COLLATE "C" PRIMARY KEY,
    project_id  text COLLATE "C" NOT NULL REFERENCES tenantgate.projects (id) ON DELETE RESTRICT,
    name        text NOT NULL,
    description text NOT NULL DEFAULT '',
    active      boolean NOT NULL DEFAULT true,
    policy      text NOT NULL DEFAULT '', -- closer than the project's; '' for none of its own
    created_at  timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    updated_at  timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    CONSTRAINT servers_id_shape CHECK (id ~ '^[!-.0-~]{1,128}$' AND id NOT IN ('.', '..')),
    CONSTRAINT servers_name_shape CHECK (char_length(name) BETWEEN 1 AND 100 AND name !~ '[\x01-\x1f\x7f]'),
    CONSTRAINT servers_description_shape CHECK (char_length(description) <= 1000),
    CONSTRAINT servers_policy_shape CHECK (char_length(policy) <= 100)
);
CREATE INDEX servers_listing ON tenantgate.servers (project_id, created_at, id);

-- A server has one key, and during the overlap of a rotation the former ones as well.
CREATE TABLE tenantgate.server_keys (
    hash       bytea PRIMARY KEY,
    server_id  text COLLATE "C" NOT NULL REFERENCES tenantgate.servers (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    expires_at timestamptz, -- null: valid until rotated
    CONSTRAINT server_keys_hash_shape CHECK (octet_length(hash) = 32)
);
CREATE INDEX server_keys_of_server ON tenantgate.server_keys (server_id);

CREATE TABLE tenantgate.tokens (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL DEFAULT '',
    hash       bytea NOT NULL UNIQUE,
    scopes     text[] NOT NULL,
    policy     text NOT NULL DEFAULT '', -- closer than the server's; '' for none of its own
    created_at timestamptz NOT NULL DEFAULT tenantgate.now_ms(),
    expires_at timestamptz, -- null: never
    revoked_at timestamptz, -- null: not revoked
    CONSTRAINT tokens_hash_shape CHECK (octet_length(hash) = 32),
    CONSTRAINT tokens_name_shape CHECK (char_length(name) <= 100 AND name !~ '[\x01-\x1f\x7f]'),
    CONSTRAINT tokens_scopes_known CHECK (scopes <@ ARRAY['manage', 'read', 'write'] AND cardinality(scopes) > 0),
    CONSTRAINT tokens_policy_shape CHECK (char_length(policy) <= 100)
);

CREATE TABLE tenantgate.token_projects (
    token_id   text COLLATE "C" NOT NULL REFERENCES tenantgate.tokens (id) ON DELETE CASCADE,
    project_id text COLLATE "C" NOT NULL REFERENCES tenantgate.projects (id) ON DELETE CASCADE,
    PRIMARY KEY (token_id, project_id)
);
CREATE INDEX token_projects_of_project ON tenantgate.token_projects (project_id);
