-- The third wall as package wall describes it, for a schema that migrations made without.

CREATE SCHEMA tenantgate_wall;
CREATE TABLE tenantgate_wall.keys (id int4 PRIMARY KEY, "inner" bytea NOT NULL, "outer" bytea NOT NULL);

CREATE FUNCTION tenantgate_wall.server() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    signed  text := current_setting('tenantgate.server', true);
    claimed text := substr(signed, strpos(signed, '.') + 66);
BEGIN
    RETURN (SELECT claimed FROM tenantgate_wall.keys AS k
        WHERE k.id::text = split_part(signed, '.', 1)
        AND signed = k.id || '.' || encode(sha256(k."outer" || sha256(k."inner" || convert_to(claimed, 'UTF8'))), 'hex') || '.' || claimed);
END
$$;
