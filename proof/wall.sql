-- The third wall as package wall describes it.

CREATE SCHEMA tenantgate_wall;
CREATE TABLE tenantgate_wall.keys (id int4 PRIMARY KEY, "inner" bytea NOT NULL, "outer" bytea NOT NULL);

CREATE FUNCTION tenantgate_wall.server() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.server
    FROM (SELECT split_part(v, '.', 1) AS id, split_part(v, '.', 2) AS mac,
                 substr(v, length(split_part(v, '.', 1)) + length(split_part(v, '.', 2)) + 3) AS server
          FROM (SELECT current_setting('tenantgate.server', true) AS v) AS setting) AS s
    JOIN tenantgate_wall.keys AS k ON k.id::text = s.id
    WHERE s.mac = encode(sha256(k."outer" || sha256(k."inner" || convert_to(s.server, 'UTF8'))), 'hex')
$$;
