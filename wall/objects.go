package wall

// Body is the text of the function Server. It gives the id of the server that the
// transaction's Setting names; whatever else the setting holds, or no setting, is NULL,
// which equals no row's server, and no error (one that can't be written in UTF-8 is, where
// the database's encoding is another).
//
// The signed text is made anew from the id that it claims and compared whole, so there is
// nothing to parse that could fail, and no other form of it is taken. Two keys are tried
// while one is being replaced.
//
// It is called once for each scoped table of each statement, and written for that: 18 us of
// Postgres' CPU (15, on a busy machine; 28 with a look at the form first). In SQL it would
// be planned anew for every statement: 100 us. A search_path in its definition would be
// 3 us more; instead every name in it says its schema, operators and types too, so that
// nothing on its caller's path, and nothing temporary, can stand in for what is meant.
const Body = `
DECLARE
    claimed pg_catalog.text := pg_catalog.substr(pg_catalog.current_setting('` + Setting + `', true),
        pg_catalog.strpos(pg_catalog.current_setting('` + Setting + `', true), '.') OPERATOR(pg_catalog.+) 66);
BEGIN
    RETURN (SELECT claimed FROM ` + Keys + ` AS k
        WHERE pg_catalog.current_setting('` + Setting + `', true) OPERATOR(pg_catalog.=) pg_catalog.concat_ws('.', k.id,
            pg_catalog.encode(pg_catalog.sha256(k."outer" OPERATOR(pg_catalog.||)
                pg_catalog.sha256(k."inner" OPERATOR(pg_catalog.||) pg_catalog.convert_to(claimed, 'UTF8'))), 'hex'), claimed));
END
`

// Objects makes Keys, with no key in it, Database and Server in the schema, which must be
// there. It can be run again: the keys and the database's id stay, and the function is made
// as it is here. Nobody but their owner may use them; who may call the function is granted
// after.
//
// A key is kept as what Pads gives. Two are valid while one is being replaced.
const Objects = `CREATE TABLE IF NOT EXISTS ` + Keys + ` (
    id      integer PRIMARY KEY,
    "inner" bytea NOT NULL,
    "outer" bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT keys_id_positive CHECK (id > 0),
    CONSTRAINT keys_pads_shape CHECK (octet_length("inner") = 64 AND octet_length("outer") = 64)
);
REVOKE ALL ON ` + Keys + ` FROM PUBLIC;
CREATE TABLE IF NOT EXISTS ` + Database + ` (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid NOT NULL DEFAULT gen_random_uuid()
);
REVOKE ALL ON ` + Database + ` FROM PUBLIC;
INSERT INTO ` + Database + ` DEFAULT VALUES ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION ` + Server + `() RETURNS pg_catalog.text
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
AS $$` + Body + `$$;
REVOKE ALL ON FUNCTION ` + Server + `() FROM PUBLIC;
`
