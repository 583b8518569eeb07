-- What speaks against each function of pg_catalog: one row for each name and objection,
-- and a row with an empty objection for a name against which nothing speaks.
-- Stands behind carried.sql.
, machinery AS ( -- what only Postgres calls: less of it reachable is less to be attacked
    SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn,
                        aggmtransfn, aggminvtransfn, aggmfinalfn])::oid AS oid FROM pg_catalog.pg_aggregate
    UNION
    SELECT amproc FROM pg_catalog.pg_amproc
    UNION
    SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout,
                        typanalyze, typsubscript])::oid FROM pg_catalog.pg_type
    UNION
    SELECT unnest(ARRAY[rngcanonical, rngsubdiff])::oid FROM pg_catalog.pg_range
    UNION
    SELECT unnest(ARRAY[oprrest, oprjoin])::oid FROM pg_catalog.pg_operator
    UNION
    SELECT conproc FROM pg_catalog.pg_conversion
), operators AS ( -- an operator's function can be called through the operator anyway
    SELECT oprcode::oid AS oid FROM pg_catalog.pg_operator
), functions AS (
    SELECT oid, proname, prokind, provolatile, prosecdef,
           coalesce(proallargtypes, proargtypes::oid[]) || prorettype AS types
      FROM pg_catalog.pg_proc
     WHERE pronamespace = 'pg_catalog'::regnamespace
)
SELECT DISTINCT f.proname::text AS name, coalesce(o.objection, '') AS objection
  FROM functions f
  LEFT JOIN LATERAL (
      SELECT 'procedure' WHERE f.prokind = 'p'
      UNION ALL
      SELECT 'volatile' WHERE f.provolatile = 'v'
      UNION ALL
      SELECT 'runs as its owner' WHERE f.prosecdef
      UNION ALL
      SELECT 'machinery' WHERE f.oid IN (SELECT oid FROM machinery) AND f.oid NOT IN (SELECT oid FROM operators)
      UNION ALL
      SELECT 'type ' || t.typname
        FROM unnest(f.types) AS used (oid) JOIN pg_catalog.pg_type t USING (oid)
       WHERE used.oid NOT IN (SELECT oid FROM carried)
  ) AS o (objection) ON true
 ORDER BY name, objection
