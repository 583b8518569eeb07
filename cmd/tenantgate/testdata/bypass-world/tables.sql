-- What the policy extra.yaml names beside the bundled tables, and what it does not name
-- though the role of statements may read it. Run once, by a superuser.

CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
CREATE SCHEMA shop;
CREATE TYPE shop.state AS ENUM ('open', 'paid');

-- A scope column of its own name and type, a hidden column, and indexes that do not lead
-- with the scope.
CREATE TABLE shop.orders (
    tenant uuid NOT NULL, id bigint NOT NULL, state shop.state NOT NULL DEFAULT 'open', total numeric(14, 2) NOT NULL DEFAULT 0,
    note text NOT NULL DEFAULT '', tags text[] NOT NULL DEFAULT '{}', card text, placed timestamptz NOT NULL DEFAULT '2026-01-01',
    PRIMARY KEY (tenant, id));
CREATE INDEX ON shop.orders USING gin (tags);
CREATE INDEX ON shop.orders (lower(note) text_pattern_ops);
CREATE STATISTICS shop.orders_notes ON (upper(note)) FROM shop.orders;

CREATE VIEW shop.recent AS SELECT tenant, id, note, card FROM shop.orders WHERE id > 0;
CREATE MATERIALIZED VIEW shop.totals AS SELECT tenant, sum(total) AS total, max(note) AS note FROM shop.orders GROUP BY tenant;
CREATE TABLE shop.events (tenant uuid NOT NULL, id bigint NOT NULL, what text NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE shop.events_low PARTITION OF shop.events FOR VALUES FROM (0) TO (100);
CREATE TABLE shop.events_high PARTITION OF shop.events FOR VALUES FROM (100) TO (200);

-- Scope columns whose type finds two spellings equal.
CREATE TABLE shop.cased (tenant public.citext NOT NULL, id bigint NOT NULL, note text NOT NULL);
CREATE TABLE shop.padded (tenant char(50) NOT NULL, id bigint NOT NULL, note text NOT NULL);

CREATE TABLE public.countries (code text PRIMARY KEY, name text NOT NULL);
INSERT INTO public.countries VALUES ('FR', 'France'), ('SE', 'Sweden');
CREATE TABLE shop.secrets (tenant uuid, note text);

CREATE FUNCTION shop.discount(amount numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT amount * 0.9';
CREATE FUNCTION shop.peek() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT note FROM shop.orders';
CREATE FUNCTION shop.lower(text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT string_agg(note, '','') FROM shop.orders';
CREATE FUNCTION shop.leaky(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
CREATE OPERATOR shop.= (LEFTARG = text, RIGHTARG = text, FUNCTION = shop.leaky);
CREATE OPERATOR shop.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = shop.leaky);

-- Of the bundled tables: indexes and statistics that do not lead with server_id either.
CREATE INDEX bypass_metadata ON public.messages USING gin (metadata);
CREATE INDEX bypass_content ON public.messages USING gin (to_tsvector('simple', content));
CREATE INDEX bypass_names ON public.end_users (lower(name) text_pattern_ops);
CREATE STATISTICS public.bypass_usernames ON (upper(username)) FROM public.end_users;

GRANT USAGE ON SCHEMA shop TO tenantgate_statement;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO tenantgate_statement;
GRANT SELECT ON public.countries TO tenantgate_statement;
