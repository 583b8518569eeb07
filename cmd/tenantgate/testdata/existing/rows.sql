-- The rows of tenant {{id}}; {{mark}} stands in others'.
DELETE FROM crm.people WHERE tenant = '{{id}}';
DELETE FROM crm.log WHERE tenant = '{{id}}';
DELETE FROM "Sales"."Price List" WHERE "Tenant" = '{{id}}';
DELETE FROM crm.notes WHERE tenant = '{{id}}';
DELETE FROM public.notes WHERE tenant = '{{id}}';
DELETE FROM crm.assets WHERE tenant = '{{id}}';
DELETE FROM crm.visits WHERE tenant = '{{id}}';
INSERT INTO crm.people (tenant, id, email, backup, nick, code, tags, stage, owed, first, last) VALUES
    ('{{id}}', 1, 'Ada@One.test', 'ADA@home.test', 'Ada', 'a1', '{Red,blue}', 'won', 10.5, '{{mark}}Ada', 'Lovelace'),
    ('{{id}}', 2, 'bob@one.test', NULL, NULL, 'B2  ', '{}', 'new', 0, '{{mark}}Bob', 'Hope'),
    ('{{id}}', 3, 'Cleo@two.TEST', 'cleo@Home.test', 'cleo', 'c3', NULL, 'lost', 99.99, '{{mark}}Cleo', 'O''Neil');
INSERT INTO "Sales"."Price List" VALUES ('{{id}}', 1, 'Tea', 2.50, '{{mark}}x'), ('{{id}}', 2, 'coffee', 3, NULL), ('{{id}}', 3, 'TEA', 1, 'y');
INSERT INTO crm.notes VALUES ('{{id}}', 1, '{{mark}}crm one'), ('{{id}}', 2, 'crm two');
INSERT INTO public.notes VALUES ('{{id}}', 1, '{{mark}}public one');
INSERT INTO crm.assets VALUES ('{{id}}', 1, 'Desk'), ('{{id}}', 2, '{{mark}}CHAIR');
INSERT INTO crm.cars VALUES ('{{id}}', 3, 'Beetle', 4), ('{{id}}', 4, '{{mark}}beetle', 3);
INSERT INTO crm.visits VALUES ('{{id}}', 1, '2025-06-01', '/Home'), ('{{id}}', 2, '2026-06-01', '/home'), ('{{id}}', 3, '2026-07-01', '/{{mark}}About');
