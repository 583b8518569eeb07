-- Statements of an ordinary application, split by blank lines. Each must answer as on a plain
-- Postgres that holds the server's rows alone.

-- citext
SELECT id, email FROM people WHERE email = 'BOB@one.test'

SELECT id FROM people WHERE email IN ('ADA@ONE.TEST', 'cleo@two.test') ORDER BY id

SELECT id FROM people WHERE email <> 'bob@ONE.test' ORDER BY email DESC

SELECT id FROM people WHERE email LIKE 'ADA%' OR email ~ '^cleo' ORDER BY id

SELECT id FROM people WHERE email NOT ILIKE '%one%' OR email BETWEEN 'B' AND 'bz' ORDER BY id

SELECT id FROM people WHERE lower(email) = 'ada@one.test' AND backup = 'ada@HOME.test'

SELECT min(email), max(email), count(DISTINCT lower(email)) FROM people

SELECT id, replace(email, 'ONE', 'x'), split_part(email, 'O', 1), strpos(email, 'ONE') FROM people ORDER BY id

SELECT id FROM people WHERE 'RED' = ANY (tags) OR email = ANY (ARRAY['BOB@ONE.TEST']) ORDER BY id

SELECT p.id, q.id FROM people p JOIN people q ON p.email = q.email ORDER BY 1

SELECT p.id FROM people p JOIN people q USING (email) ORDER BY 1

SELECT "Label", count(*), sum(price) FROM "Sales"."Price List" GROUP BY "Label" ORDER BY 1

SELECT DISTINCT "Label" FROM "Sales"."Price List" WHERE "Label" IS NOT NULL ORDER BY 1 LIMIT 2

SELECT CASE email WHEN 'ADA@one.test' THEN 'ada' ELSE 'other' END FROM people ORDER BY id

SELECT nullif(email, 'ADA@one.test') IS NULL, email IS DISTINCT FROM 'ADA@ONE.TEST' FROM people ORDER BY id

SELECT id FROM people WHERE email = (SELECT max(email) FROM people)

SELECT id FROM people WHERE email IN (SELECT email FROM people WHERE email >= 'BOB') ORDER BY id

SELECT 'abc'::citext = 'ABC', 'abc' = 'ABC', 'a'::text = 'A'

SELECT name FROM countries WHERE name = 'FRANCE' OR code = 'SE ' ORDER BY code

SELECT id FROM people WHERE email = 'BOB@one.test'::text OR email = 'ADA@one.test'::varchar

SELECT id FROM people WHERE email || '' = 'bob@one.test'

UPDATE people SET stage = 'won' WHERE email = 'BOB@ONE.TEST'

UPDATE people SET email = 'Robert@one.test' WHERE email = 'BOB@ONE.TEST' RETURNING id, email, nick

INSERT INTO people (id, email, first, last) VALUES (9, 'ROBERT@ONE.TEST', 'R', 'S') ON CONFLICT (tenant, email) DO UPDATE SET last = EXCLUDED.last RETURNING id, full_name

DELETE FROM "Sales"."Price List" WHERE "Label" = 'tEa' AND price > 2

WITH new AS (INSERT INTO people (id, email, backup, first, last, owed) VALUES (4, 'Dan@x.test', 'D@X.test', 'Dan', 'Brown', '1.005') RETURNING *) SELECT id, email, nick, full_name, owed FROM new

-- trigrams, and operators that bear their names
SELECT id FROM people WHERE last % 'Lovelac' ORDER BY id

SELECT 7 % 4, 2 ^ 3, -5 % 3

SELECT id, last <-> 'Hope' < 0.5 FROM people ORDER BY id

-- domains, enums, char(n), generated columns
SELECT id, owed + 1, owed::int FROM people WHERE owed >= 10 AND stage > 'new' ORDER BY owed

SELECT id FROM people WHERE code = 'B2' OR code = 'a1    ' ORDER BY id

SELECT code, length(code), code || '|' FROM people ORDER BY id

SELECT id FROM people WHERE stage IN ('won', 'lost') ORDER BY stage, id

SELECT full_name FROM people WHERE full_name LIKE '%Lovelace' OR id = 4 ORDER BY 1

UPDATE people SET owed = owed * 2, code = 'zz' WHERE stage = 'lost' RETURNING id, owed, code

-- triggers
SELECT person, what, count(*) FROM log WHERE what = 'update' GROUP BY 1, 2 ORDER BY 1

-- quoted names, schemas
SELECT "Nr", "Label", "select" FROM "Sales"."Price List" p WHERE p."select" IS NOT NULL ORDER BY "Nr"

UPDATE "Sales"."Price List" AS "P" SET price = "P".price + 1 WHERE "P"."Nr" = 2 RETURNING "P".*

SELECT body FROM notes ORDER BY id

SELECT n.body, m.body FROM notes n LEFT JOIN public.notes m USING (id) ORDER BY n.id

INSERT INTO notes (id, body) VALUES (5, 'into crm')

SELECT count(*) FROM crm.notes

-- inheritance, partitions
SELECT id, name FROM assets ORDER BY id

SELECT id, wheels FROM cars WHERE name = 'BEETLE' ORDER BY id

UPDATE assets SET name = 'Armchair' WHERE name = 'chair'

UPDATE assets SET name = 'Old ' || name WHERE name = 'beetle' AND id > 2

SELECT id, page FROM visits WHERE page = '/HOME' ORDER BY day

UPDATE visits SET day = '2026-08-01' WHERE id = 1 RETURNING id, day, page

DELETE FROM visits WHERE page = '/home' AND day < '2026-07-15'

INSERT INTO visits (id, day, page) SELECT id + 10, day - 400, page FROM visits

SELECT count(*), min(page) FROM visits

-- domains over types with a length, and intervals whose fields say what a number is
UPDATE people SET term = id::text::term, pause = interval '5' minute, zip = 'SW1A ' WHERE id < 3

INSERT INTO people (id, email, stage, term, pause, zip) VALUES (9, 'Nine@nine.test', 'won', '9', '7', 'EC1A')

SELECT id, term, pause, zip FROM people ORDER BY id

SELECT id FROM people WHERE term = '2'::term ORDER BY id

SELECT id FROM people WHERE term = '1'::crm.term OR pause = '7'::interval hour to minute ORDER BY id

SELECT id FROM people WHERE zip = 'SW1A 1AA'::zip ORDER BY id

SELECT id FROM people WHERE owed = '10.501'::crm.amount OR zip = CAST('EC1A  ' AS crm.zip) ORDER BY id

SELECT id FROM people WHERE term IN ('9'::term, '2'::term) ORDER BY id

-- names that Postgres makes
SELECT s.* FROM (SELECT (lower('A')), upper('b'), count(*) FROM people GROUP BY upper('b')) s

SELECT row_to_json(s)::text FROM (SELECT (date_trunc('day', date '2026-05-05')), 'x'::zip, id FROM people WHERE id = 1) s

SELECT s.lower, s.id FROM (SELECT (lower('A')), id FROM people GROUP BY lower('A'), id) s ORDER BY 2
