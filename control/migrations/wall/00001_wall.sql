-- What row-level security tells the servers apart by, in the database that statements run
-- in. Package wall says how it works; the names are its constants.
--
-- The schema is made before this runs. Nobody but its owner may look into the table; who
-- may call the function is granted after.

-- +goose Up

-- What HMAC-SHA256 needs of a key: the secret, filled up to a block, XORed with RFC 2104's
-- two pads. Two are valid while a key is being replaced.
CREATE TABLE tenantgate_wall.keys (
    id      integer PRIMARY KEY,
    "inner" bytea NOT NULL,
    "outer" bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT keys_id_positive CHECK (id > 0),
    CONSTRAINT keys_pads_shape CHECK (octet_length("inner") = 64 AND octet_length("outer") = 64)
);
REVOKE ALL ON tenantgate_wall.keys FROM PUBLIC;

-- Gives the id of the server that the transaction's setting names: the key's id, the
-- signature in 64 lower-case hex digits and the server's id, with dots between. Whatever
-- else the setting holds, or no setting, is NULL and no error: NULL equals no row's server.
--
-- The signed text is made anew from the id that it claims and compared whole, so there is
-- nothing to parse that could fail. An id has 1 to 128 ASCII characters without spaces. It
-- is plpgsql because that keeps its plan from one statement to the next: 15 us a call, where
-- the same in SQL takes 100 (Postgres 15).
-- +goose StatementBegin
CREATE FUNCTION tenantgate_wall.server() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    signed  text := current_setting('tenantgate.server', true);
    claimed text := substr(signed, strpos(signed, '.') + 66);
BEGIN
    IF octet_length(signed) > 204 OR signed COLLATE "C" !~ '^[!-~]+$' OR claimed = '' THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT claimed FROM tenantgate_wall.keys AS k
        WHERE k.id::text = split_part(signed, '.', 1)
        AND signed = k.id || '.' || encode(sha256(k."outer" || sha256(k."inner" || convert_to(claimed, 'UTF8'))), 'hex') || '.' || claimed);
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenantgate_wall.server() FROM PUBLIC;
