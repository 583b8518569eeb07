-- The tables of TestAltered.
CREATE TABLE public.turned (server_id text NOT NULL, mark text, left_half text, right_half text);
CREATE TABLE public.retyped (server_id text NOT NULL, mark text, narrow int4, wide int8, secret text);

-- Row-level security on the tables of the tests, for the role of statements.

DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['samples', 'branches', 'tellers', 'accounts', 'history', 'turned', 'retyped'] LOOP
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenantgate_server ON public.%I USING (server_id = (SELECT id FROM tenantgate_wall.server))
            WITH CHECK (server_id = (SELECT id FROM tenantgate_wall.server))', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON public.%I TO clients_statement', t);
    END LOOP;
END $$;

-- What another server has: its keys are those that the clients write, too.
INSERT INTO public.samples (server_id, id, code, t) SELECT 'CANARY', n, 'code' || n, 'CANARY' FROM generate_series(-5, 500) AS n;
INSERT INTO public.accounts (server_id, aid, bid, abalance) SELECT 'CANARY', n, 1, 8675309 FROM generate_series(1, 1000) AS n;
INSERT INTO public.branches (server_id, bid, bbalance) SELECT 'CANARY', n, 8675309 FROM generate_series(1, 2) AS n;
INSERT INTO public.tellers (server_id, tid, bid, tbalance) SELECT 'CANARY', n, 1, 8675309 FROM generate_series(1, 20) AS n;
INSERT INTO public.history (server_id, tid, bid, aid, delta) VALUES ('CANARY', 1, 1, 1, 8675309);
INSERT INTO public.conversations (server_id, id, title) SELECT 'CANARY', 'c' || n, 'CANARY' FROM generate_series(1, 20) AS n;
INSERT INTO public.messages (server_id, id, conversation_id, content) SELECT 'CANARY', 'm' || n, 'c1', 'CANARY' FROM generate_series(1, 20) AS n;
