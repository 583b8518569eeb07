-- Run once by the Postgres image, as the superuser, when its volume is empty: four roles
-- and two databases. Nobody but the superuser can do more than what is said here.
\set ON_ERROR_STOP on
\set control `cat /run/secrets/control_password`
\set owner `cat /run/secrets/owner_password`
\set statement `cat /run/secrets/statement_password`
\set lookup `cat /run/secrets/lookup_password`

-- Owns projects, servers and credentials.
CREATE ROLE tenantgate_control LOGIN PASSWORD :'control' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
-- Owns the server-scoped tables; only the migration uses it.
CREATE ROLE tenantgate_owner LOGIN PASSWORD :'owner' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
-- Runs developers' statements; owns nothing.
CREATE ROLE tenantgate_statement LOGIN PASSWORD :'statement' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;
-- Serves the look-up of end users by e-mail; owns nothing.
CREATE ROLE tenantgate_lookup LOGIN PASSWORD :'lookup' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;

CREATE DATABASE tenantgate_control OWNER tenantgate_control;
CREATE DATABASE tenantgate_data OWNER tenantgate_owner;

-- Whoever runs statements reaches the data and nothing else, not even by name.
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1, tenantgate_control, tenantgate_data FROM PUBLIC;
GRANT CONNECT ON DATABASE tenantgate_control TO tenantgate_control;
GRANT CONNECT ON DATABASE tenantgate_data TO tenantgate_owner, tenantgate_statement, tenantgate_lookup;

-- The last word, should tenantgate ever lose hold of a statement; its own limits are lower.
ALTER ROLE tenantgate_statement SET statement_timeout = '60s';
ALTER ROLE tenantgate_statement SET idle_in_transaction_session_timeout = '60s';
