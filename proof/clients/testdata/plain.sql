-- Makes a database that belongs to one server alone: who writes never names the server,
-- and no key needs it.

DO $$
DECLARE t regclass;
BEGIN
    FOR t IN SELECT attrelid::regclass FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE attname = 'server_id' AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace LOOP
        EXECUTE format('ALTER TABLE %s ALTER server_id SET DEFAULT ''own''', t);
    END LOOP;
END $$;

ALTER TABLE public.samples DROP CONSTRAINT samples_pkey, DROP CONSTRAINT samples_code,
    ADD CONSTRAINT samples_pkey PRIMARY KEY (id), ADD CONSTRAINT samples_code UNIQUE (code);
ALTER TABLE public.accounts DROP CONSTRAINT accounts_pkey, ADD CONSTRAINT accounts_pkey PRIMARY KEY (aid);
