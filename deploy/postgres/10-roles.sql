-- Four roles and two databases, created once, as a superuser. The Postgres image runs it when
-- its volume is empty; by hand, with the folder that secrets.sh fills (an absolute path):
--
--   psql -h HOST -U postgres -v secrets="$PWD/deploy/secrets" -v shared=1 -f deploy/postgres/10-roles.sql
--
-- The recipe of docs/own-tables.md creates roles of the same names: in its cluster this fails
-- until the recipe's last block has removed them.
--
-- Without shared=1 the cluster is assumed to be used by tenantgate only, and NOBODY BUT SUPERUSERS
-- MAY CONNECT to the databases postgres and template1 afterwards.
\set ON_ERROR_STOP on
\if :{?secrets}
\else
\set secrets /run/secrets
\endif
\set control `cat :'secrets'/control_password`
\set owner `cat :'secrets'/owner_password`
\set statement `cat :'secrets'/statement_password`
\set lookup `cat :'secrets'/lookup_password`
SELECT '' IN (:'control', :'owner', :'statement', :'lookup') AS incomplete \gset
\if :incomplete
DO $$ BEGIN RAISE 'a password is missing: run deploy/secrets.sh, and name its folder with -v secrets=/…/deploy/secrets'; END $$;
\endif

BEGIN;
-- Owns projects, servers, credentials and the key that servers are signed with.
CREATE ROLE tenantgate_control LOGIN PASSWORD :'control' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
-- Owns the server-scoped tables and the keys of row-level security; only the migration and
-- `tenantgate key` use it.
CREATE ROLE tenantgate_owner LOGIN PASSWORD :'owner' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
-- Runs developers' statements; owns nothing.
CREATE ROLE tenantgate_statement LOGIN PASSWORD :'statement' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;
-- Serves the look-up of end users by e-mail; owns nothing.
CREATE ROLE tenantgate_lookup LOGIN PASSWORD :'lookup' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;
-- A last limit, in case tenantgate ever loses track of a statement; its own limits are lower.
ALTER ROLE tenantgate_statement SET statement_timeout = '60s';
ALTER ROLE tenantgate_statement SET idle_in_transaction_session_timeout = '60s';
-- A sort, or a cursor that is left open, could fill the disk, which all servers share, with temporary files.
ALTER ROLE tenantgate_statement SET temp_file_limit = '1GB';
COMMIT;

CREATE DATABASE tenantgate_control OWNER tenantgate_control;
CREATE DATABASE tenantgate_data OWNER tenantgate_owner;

-- The roles that use the data can connect only to the database with the data.
REVOKE CONNECT, TEMPORARY ON DATABASE tenantgate_control, tenantgate_data FROM PUBLIC;
GRANT CONNECT ON DATABASE tenantgate_control TO tenantgate_control;
GRANT CONNECT ON DATABASE tenantgate_data TO tenantgate_owner, tenantgate_statement, tenantgate_lookup;
\if :{?shared}
\else
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC;
\endif
