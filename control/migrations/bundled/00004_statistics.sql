-- Postgres' planner has no statistics of any column but server_id: they would hold all
-- servers' values, and the order of one server's rows would tell of another's. What is there
-- already goes. Indexes lead with server_id and have no condition, since the planner does not
-- see the constants that would satisfy one.

-- +goose Up

DROP INDEX public.end_users_external;
DROP INDEX public.end_users_username;
CREATE INDEX end_users_external ON public.end_users (server_id, external_user_id);
CREATE INDEX end_users_username ON public.end_users (server_id, username);

-- +goose StatementBegin
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
            EXISTS (SELECT FROM pg_catalog.pg_stats s WHERE s.schemaname = 'public' AND s.tablename = c.relname AND s.attname = a.attname) AS known
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relname IN ('end_users', 'conversations', 'messages', 'files')
            AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'server_id'
    LOOP
        IF found.known THEN -- the same type again: Postgres drops the statistics and rewrites no row
            EXECUTE format('ALTER TABLE public.%I ALTER COLUMN %I TYPE %s', found.relname, found.attname, found.type);
        END IF;
        EXECUTE format('ALTER TABLE public.%I ALTER COLUMN %I SET STATISTICS 0', found.relname, found.attname);
    END LOOP;
END $$;
-- +goose StatementEnd

ALTER INDEX public.end_users_email ALTER COLUMN 2 SET STATISTICS 0;
