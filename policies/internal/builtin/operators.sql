-- Each operator of pg_catalog, with its function and what speaks against it.
-- Stands behind carried.sql.
SELECT o.oprname::text AS name, coalesce(l.typname::text, '') AS left, r.typname::text AS right,
       p.proname::text AS function, p.proleakproof AS leakproof,
       ARRAY (
           SELECT 'volatile' WHERE p.provolatile = 'v'
           UNION ALL
           SELECT 'runs as its owner' WHERE p.prosecdef
           UNION ALL
           SELECT DISTINCT 'type ' || t.typname
             FROM unnest(ARRAY[o.oprleft, o.oprright, o.oprresult]) AS used (oid) JOIN pg_catalog.pg_type t USING (oid)
            WHERE used.oid NOT IN (SELECT oid FROM carried)
       ) AS objections
  FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
  JOIN pg_catalog.pg_type r ON r.oid = o.oprright
  LEFT JOIN pg_catalog.pg_type l ON l.oid = o.oprleft
 WHERE o.oprnamespace = 'pg_catalog'::regnamespace
