-- Row-level security on all of them.
DO $$ DECLARE t record; BEGIN
    FOR t IN SELECT a.attrelid::regclass AS name, a.attname AS scope FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('crm', 'public', 'Sales') WHERE a.attname IN ('tenant', 'Tenant')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t.name);
        EXECUTE format('CREATE POLICY tenantgate_server ON %s USING (%I = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (%2$I = (SELECT id FROM tenantgate_wall.server))', t.name, t.scope);
    END LOOP;
END $$;
