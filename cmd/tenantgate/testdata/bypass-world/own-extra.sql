-- The attacker's rows in the tables of extra.yaml; {{id}} is his server.

DELETE FROM shop.orders WHERE tenant = '{{id}}';
DELETE FROM shop.events WHERE tenant = '{{id}}';
DELETE FROM shop.cased WHERE tenant::text = '{{id}}';
DELETE FROM shop.padded WHERE tenant = '{{id}}';
INSERT INTO shop.orders (tenant, id, state, total, note, tags, card) VALUES
  ('{{id}}', 1, 'open', 10, 'apples', '{red,small}', 'own-card'), ('{{id}}', 2, 'paid', 20, 'pears', '{green}', NULL);
INSERT INTO shop.events VALUES ('{{id}}', 1, 'low'), ('{{id}}', 101, 'high');
INSERT INTO shop.cased VALUES ('{{id}}', 1, 'own');
INSERT INTO shop.padded VALUES ('{{id}}', 1, 'own');
REFRESH MATERIALIZED VIEW shop.totals;
