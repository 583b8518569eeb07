package doctor

// schemaSQL makes the schema, the table of keys without a key, and the function of package
// wall, in a database that has none of them: the same that the migration makes. The keys
// themselves are the migration's to make.
const schemaSQL = `CREATE SCHEMA IF NOT EXISTS tenantgate_wall;
CREATE TABLE IF NOT EXISTS tenantgate_wall.keys (
    id      integer PRIMARY KEY,
    "inner" bytea NOT NULL,
    "outer" bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT keys_id_positive CHECK (id > 0),
    CONSTRAINT keys_pads_shape CHECK (octet_length("inner") = 64 AND octet_length("outer") = 64)
);
REVOKE ALL ON tenantgate_wall.keys FROM PUBLIC;
CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text
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
REVOKE ALL ON FUNCTION tenantgate_wall.server() FROM PUBLIC;
GRANT USAGE ON SCHEMA tenantgate_wall TO {role};
GRANT EXECUTE ON FUNCTION tenantgate_wall.server() TO {role};`
