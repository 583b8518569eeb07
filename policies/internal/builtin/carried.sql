-- What the rules for functions and for operators both start with.
-- $1 are the types that one may take or give; their arrays are implied.
WITH admitted AS (
    SELECT oid, typarray
      FROM pg_catalog.pg_type
     WHERE typnamespace = 'pg_catalog'::regnamespace AND typname = ANY ($1::text[])
), carried AS (
    SELECT oid FROM admitted
    UNION
    SELECT typarray FROM admitted WHERE typarray <> 0
)
