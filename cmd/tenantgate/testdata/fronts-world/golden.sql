-- The tables of policy/testdata/schema.json beside the bundled ones, and rows: of the server
-- under test, and of another with a canary in each. Run once, by a superuser.

CREATE SCHEMA shop;
CREATE TYPE shop.order_state AS ENUM ('open', 'paid');
CREATE TABLE shop.orders (id bigint NOT NULL, tenant uuid NOT NULL, total numeric, state shop.order_state, PRIMARY KEY (tenant, id), UNIQUE (id));
CREATE TABLE shop.badges (tenant text UNIQUE, name text, note text);
CREATE TABLE public.countries (code text PRIMARY KEY, name text);
CREATE FUNCTION shop.discount(amount numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT amount * 0.9';

ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.orders USING (tenant = (SELECT id::uuid FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id::uuid FROM tenantgate_wall.server));
ALTER TABLE shop.badges ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.badges USING (tenant = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id FROM tenantgate_wall.server));

GRANT USAGE ON SCHEMA shop TO tenantgate_statement;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop.orders TO tenantgate_statement;
GRANT SELECT (tenant, name), INSERT, UPDATE ON shop.badges TO tenantgate_statement;
GRANT SELECT ON public.countries TO tenantgate_statement;

INSERT INTO public.countries VALUES ('FR', 'France'), ('SE', 'Sweden');
INSERT INTO shop.orders VALUES (90, '0b000000-0000-7000-8000-00000000000b', 7770777, 'open');
INSERT INTO shop.badges VALUES ('srv-b', 'CANARY', 'CANARY');
INSERT INTO public.end_users (id, server_id, username, name, email) VALUES ('1', 'srv-b', 'CANARY', 'CANARY', 'canary@example.org'), ('u1', 'srv-b', 'CANARY', 'CANARY', 'canary1@example.org');
INSERT INTO public.conversations (id, server_id, end_user_id, title) VALUES ('1', 'srv-b', '1', 'CANARY'), ('c1', 'srv-b', 'u1', 'CANARY');
INSERT INTO public.messages (id, server_id, conversation_id, role, content) VALUES ('1', 'srv-b', '1', 'CANARY', 'CANARY'), ('m1', 'srv-b', 'c1', 'user', 'CANARY');
INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name) VALUES ('1', 'srv-b', '1', '1', 'CANARY'), ('f1', 'srv-b', 'u1', 'c1', 'CANARY');
