-- A database as applications leave them behind: made in a shared one and in one that holds a
-- single tenant's rows. {{owner}} owns it.

CREATE EXTENSION citext SCHEMA public;
CREATE EXTENSION pg_trgm SCHEMA public;
CREATE SCHEMA crm AUTHORIZATION {{owner}};
CREATE SCHEMA "Sales" AUTHORIZATION {{owner}};
SET SESSION AUTHORIZATION {{owner}};
SET search_path = crm, public;

CREATE DOMAIN crm.amount AS numeric(12, 2) CHECK (VALUE >= 0);
CREATE DOMAIN crm.mail AS citext CHECK (VALUE ~ '@');
CREATE DOMAIN crm.term AS interval day;
CREATE DOMAIN crm.zip AS varchar(5);
CREATE TYPE crm.stage AS ENUM ('new', 'won', 'lost');

CREATE TABLE crm.people (
    tenant text NOT NULL, id int NOT NULL, email citext NOT NULL, backup crm.mail, nick varchar(20), code char(6), tags citext[],
    stage crm.stage NOT NULL DEFAULT 'new', owed crm.amount NOT NULL DEFAULT 0, first text, last text,
    term crm.term, pause interval hour to minute, zip crm.zip,
    full_name text GENERATED ALWAYS AS (first || ' ' || last) STORED, seen timestamptz NOT NULL DEFAULT '2026-01-01',
    PRIMARY KEY (tenant, id), UNIQUE (tenant, email));
CREATE INDEX ON crm.people USING gin (last gin_trgm_ops);

-- A trigger that stamps its own row, and one that keeps a log of the same tenant's.
CREATE TABLE crm.log (tenant text NOT NULL, id int GENERATED ALWAYS AS IDENTITY, person int, what citext, PRIMARY KEY (tenant, id));
CREATE FUNCTION crm.stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.nick := coalesce(NEW.nick, lower(NEW.first)); RETURN NEW; END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON crm.people FOR EACH ROW EXECUTE FUNCTION crm.stamp();
CREATE FUNCTION crm.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO crm.log (tenant, person, what) VALUES (NEW.tenant, NEW.id, TG_OP); RETURN NULL; END $$;
CREATE TRIGGER note AFTER UPDATE ON crm.people FOR EACH ROW EXECUTE FUNCTION crm.note();

-- Quoted names, a table of the same name in two schemas, inheritance, partitions.
CREATE TABLE "Sales"."Price List" ("Tenant" text NOT NULL, "Nr" int NOT NULL, "Label" citext, price crm.amount, "select" text, PRIMARY KEY ("Tenant", "Nr"));
CREATE TABLE crm.notes (tenant text NOT NULL, id int NOT NULL, body text, PRIMARY KEY (tenant, id));
CREATE TABLE public.notes (tenant text NOT NULL, id int NOT NULL, body text, PRIMARY KEY (tenant, id));
CREATE TABLE crm.assets (tenant text NOT NULL, id int NOT NULL, name citext, PRIMARY KEY (tenant, id));
CREATE TABLE crm.cars (wheels int NOT NULL DEFAULT 4) INHERITS (crm.assets);
CREATE TABLE crm.visits (tenant text NOT NULL, id int NOT NULL, day date NOT NULL, page citext, PRIMARY KEY (tenant, id, day)) PARTITION BY RANGE (day);
CREATE TABLE crm.visits_old PARTITION OF crm.visits FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
CREATE TABLE crm.visits_new PARTITION OF crm.visits FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);

-- Everybody's, with a rule that keeps it as it is.
CREATE TABLE public.countries (code char(2) PRIMARY KEY, name citext NOT NULL);
CREATE RULE kept AS ON DELETE TO public.countries DO INSTEAD NOTHING;
INSERT INTO public.countries VALUES ('FR', 'France'), ('SE', 'Sweden'), ('de', 'GERMANY');
RESET SESSION AUTHORIZATION;
RESET search_path;
