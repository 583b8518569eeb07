-- Postgres keeps the places of rows of one value together in lists once a page of a btree index is
-- full. The other servers' values on the page fill it too, and a backward scan reads each list
-- forwards: the order of a server's rows would tell of others' values. So the indexes keep no lists.
-- A primary key has one row of a value.

-- +goose Up

-- +goose StatementBegin
DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN
        SELECT i.indexrelid
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam
        WHERE c.relnamespace = 'public'::regnamespace AND c.relname IN ('end_users', 'conversations', 'messages', 'files') AND m.amname = 'btree' AND NOT i.indisprimary
    LOOP
        EXECUTE format('ALTER INDEX %s SET (deduplicate_items = off)', found);
        EXECUTE format('REINDEX INDEX %s', found);
    END LOOP;
END $$;
-- +goose StatementEnd
