-- What makes the proof's tables like those of a database that exists: types of an extension, domains
-- over them, triggers, a rule, a table that inherits. Names and meanings of columns stay.

CREATE EXTENSION citext SCHEMA public;
CREATE EXTENSION pg_trgm SCHEMA public;
CREATE DOMAIN shop.amount AS numeric CHECK (VALUE < 1e30);
CREATE DOMAIN public.label AS citext CHECK (VALUE <> 'forbidden');
CREATE DOMAIN public.short AS char(6);

ALTER TABLE public.end_users ALTER email TYPE citext, ALTER username TYPE citext, ALTER phone_number TYPE public.label;
ALTER TABLE public.conversations ALTER title TYPE citext;
ALTER TABLE public.messages ALTER role TYPE public.label, ALTER content TYPE citext;
ALTER TABLE public.files ALTER name TYPE varchar(400), ALTER content_type TYPE citext;
ALTER TABLE shop.items ALTER price TYPE shop.amount, ALTER tags TYPE citext[];
ALTER TABLE shop.orders ALTER note TYPE public.label;
ALTER TABLE public.notes ALTER code TYPE public.short;
ALTER TABLE public."Tag List" ALTER val TYPE citext;
ALTER TABLE public.profiles ALTER digits TYPE citext, ALTER price TYPE shop.amount, ALTER doc TYPE char(40);
ALTER TABLE public.events ALTER kind TYPE citext;
CREATE INDEX end_users_email_any ON public.end_users (server_id, email);
CREATE INDEX conversations_title_any ON public.conversations USING gin (title gin_trgm_ops);

-- One changes the row that is written, one writes another row of the same server.
CREATE FUNCTION public.tidy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.val := coalesce(NEW.val, 'None'); RETURN NEW; END $$;
CREATE TRIGGER tidy BEFORE INSERT OR UPDATE ON public."Tag List" FOR EACH ROW EXECUTE FUNCTION public.tidy();
CREATE TABLE public.done (server_id text NOT NULL, what citext NOT NULL, at int GENERATED ALWAYS AS IDENTITY);
GRANT INSERT ON public.done TO PUBLIC;
CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.done (server_id, what) VALUES (coalesce(NEW.server_id, OLD.server_id), TG_OP); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON public.profiles FOR EACH ROW EXECUTE FUNCTION public.note();

CREATE TABLE public.profiles_old (left_at date) INHERITS (public.profiles);
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON public.profiles_old FOR EACH ROW EXECUTE FUNCTION public.note();
CREATE RULE kept AS ON DELETE TO public.countries DO INSTEAD NOTHING;
