-- Statements that told of another server's row once: before the barrier, or through a hole in it
-- or in row-level security. One a line; found_test.go runs them.
DELETE FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
SELECT (SELECT 1 FROM messages m2 GROUP BY m2.content HAVING 'x' ~ m2.content OR max(f.id) IS NULL LIMIT 1) FROM files f
SELECT (WITH w AS (SELECT 'x' ~ content OR max(f.id) IS NULL AS y FROM messages) SELECT 1 FROM w WHERE w.y LIMIT 1) FROM files f
SELECT 1 FROM (SELECT content = 'ok' OR EXISTS (SELECT FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0) AS y FROM messages) s WHERE s.y
SELECT 1 FROM (SELECT content, content COLLATE "C" AS c, content COLLATE "POSIX" AS p FROM messages) s WHERE s.content = 'ok' OR s.c < s.p
SELECT 1 FROM conversations WHERE ARRAY[day, created_at] IS NULL
SELECT 1 FROM conversations WHERE ARRAY[tags, ARRAY['a','b']] IS NULL
SELECT 1 FROM conversations WHERE CASE WHEN id = 'q' THEN created_at ELSE day END IS NULL
SELECT 1 FROM conversations WHERE CASE WHEN id = 'q' THEN f ELSE amount END IS NULL
SELECT 1 FROM conversations WHERE title <> 'xx' OR 'toolong'::short IS NULL
SELECT 1 FROM conversations WHERE title <> 'xx' OR ARRAY[day, created_at] IS NULL
SELECT 1 FROM conversations WHERE title <> 'xx' OR ARRAY[tags, ARRAY['a','b']] IS NULL
SELECT 1 FROM conversations WHERE title <> 'xx' OR cc = cp
SELECT 1 FROM conversations WHERE title <> 'xx' OR title = 'toolong'::short
SELECT 1 FROM messages WHERE content <> 'ok' AND (id IN (SELECT 'q' FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)) IS TRUE
SELECT 1 FROM messages WHERE content <> 'ok' AND id NOT IN (SELECT 'q' FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
SELECT 1 FROM messages WHERE content = 'ok' OR (SELECT '5000000-01-01'::date UNION ALL SELECT now() LIMIT 1) IS NULL
SELECT 1 FROM messages WHERE content = 'ok' OR 9223372036854775807::money IS NULL
SELECT 1 FROM messages WHERE content = 'ok' OR ARRAY[now(), '5000000-01-01'::date] IS NULL
SELECT 1 FROM messages WHERE content = 'ok' OR CASE WHEN content = 'q' THEN now() ELSE '5000000-01-01'::date END IS NULL
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM (VALUES ('5000000-01-01'::date), (now())) v(x) WHERE x IS NULL)
SELECT 1 FROM messages WHERE content = 'ok' OR id IN (SELECT f.id FROM files f ORDER BY 1/(f.size_bytes*0))
SELECT 1 FROM messages m WHERE content = 'ok' OR (WITH w AS (SELECT 1 FROM files LIMIT -1) SELECT count(*) FROM w) = 2
SELECT 1 FROM messages m WHERE content = 'ok' OR (WITH w AS (SELECT 1 FROM files OFFSET (-1)) SELECT count(*) FROM w) = 2
SELECT 1 FROM messages m WHERE content = 'ok' OR ARRAY[ARRAY[id], ARRAY[id,role]] IS NULL
SELECT 1 FROM messages m, LATERAL (SELECT 'x' ~ s.content AS y FROM (SELECT m.*) s) z WHERE z.y
SELECT 1 FROM messages m, LATERAL (SELECT m.*) s WHERE 'x' ~ s.content
SELECT 1 FROM messages m, LATERAL (SELECT m2.* FROM (SELECT 1) z, LATERAL (SELECT m.*) m2) s WHERE 'x' ~ s.content
SELECT 1 FROM messages m, LATERAL (SELECT s2.* FROM (SELECT m.*) s2) s WHERE 'x' ~ s.content
SELECT id FROM messages WHERE content = 'ok' OR ((created_at, id), role) = (('2020-01-01', 'x'), 'y')
SELECT id FROM messages WHERE content = 'ok' OR (current_date + 2147483647) IS NULL
SELECT id FROM messages WHERE content = 'ok' OR (now() + interval '300000 years') IS NULL
SELECT id FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
SELECT id FROM messages WHERE content = 'ok' OR id = (SELECT id FROM files LIMIT 1 OFFSET -1)
SELECT id FROM messages WHERE content = 'ok' OR id IN (SELECT 'q' FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
SELECT id FROM messages WHERE content = 'ok' OR id IN (SELECT f.id FROM files f WHERE 1/(f.size_bytes*0) > 0)
SELECT id FROM messages m WHERE content = 'ok' OR 0 = (SELECT count(*) FROM (SELECT id FROM files LIMIT -1) s)
SELECT k FROM (SELECT amount AS k FROM conversations) a LEFT JOIN (SELECT 1::float8 AS k) b USING (k) WHERE k IS NULL
SELECT k FROM (SELECT day AS k FROM conversations) a LEFT JOIN (SELECT now() AS k) b USING (k) WHERE k IS NULL
SELECT role FROM messages GROUP BY role HAVING role = 'user' OR EXISTS (SELECT FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
UPDATE messages SET role = 'x' WHERE content = 'ok' OR EXISTS (SELECT FROM generate_series(1,1) AS g(i) WHERE 1/(i-1) > 0)
WITH RECURSIVE a AS (SELECT 1 FROM b WHERE 'x' ~ b.c), b(c) AS (SELECT content FROM messages) SELECT * FROM a
SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT f.size_bytes / f.size_bytes IS NULL) LIMIT 1) FROM files f
SELECT (SELECT 1 FROM messages m WHERE m.role > 'user' AND ARRAY[ARRAY[f.created_at, f.created_at], ARRAY[clock_timestamp()]] IS NULL LIMIT 1) FROM files f
SELECT (SELECT 1 FROM messages m WHERE m.role > 'user' AND array_sample(ARRAY[f.id], 5) IS NULL LIMIT 1) FROM files f
SELECT (SELECT 1 FROM messages m WHERE m.role > 'user' AND random(f.size_bytes, '-5'::int8) IS NULL LIMIT 1) FROM files f
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR CASE cc WHEN cp THEN true END
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR GREATEST(cc, cp) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR LEAST(cc, cp) IS NOT NULL
SELECT 1 FROM conversations WHERE title <> '(' OR 'x' = ANY (ARRAY[cc, cp])
SELECT 1 FROM conversations WHERE title <> '(' OR (SELECT max(coalesce(c.cc, c.cp)) FROM conversations c) IS NULL
SELECT 1 FROM conversations WHERE title <> '(' OR coalesce(cc, cp) = 'x'
SELECT 1 FROM conversations c LEFT JOIN (SELECT ROW(1) = ROW(2) AS b, 1/(extract(year from now())*0)::int AS y) s ON true WHERE c.end_user_id IS NULL OR s.y IS NULL
SELECT 1 FROM conversations c, LATERAL (SELECT 1/(extract(year from now())*0)::int AS y) s WHERE c.end_user_id IS NULL OR s.y IS NULL
SELECT 1 FROM files f, LATERAL (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT f.size_bytes / f.size_bytes IS NULL) OFFSET 0) s
SELECT id FROM messages WHERE content = 'ok' OR (SELECT 'abc' LIMIT 1)::int IS NULL
SELECT id FROM messages WHERE content = 'ok' OR (SELECT 1 FROM (VALUES ('1'::json), ('2'::json)) v (x) ORDER BY ROW(x) LIMIT 1) = 2
SELECT id FROM messages WHERE content = 'ok' OR (SELECT count(*) FROM (SELECT DISTINCT f FROM (SELECT '1'::json AS j, id FROM files) f) s) = 7
SELECT id FROM messages WHERE content = 'ok' OR (SELECT count(DISTINCT ROW('1'::json)) FROM files) = 1
SELECT id FROM messages WHERE content = 'ok' OR (SELECT count(DISTINCT ROW('1'::json)) FROM files) IS NULL
SELECT id FROM messages WHERE content = 'ok' OR (SELECT id FROM files ORDER BY ROW('1'::json, id) LIMIT 1) = 'x'
SELECT id FROM messages WHERE content = 'ok' OR (SELECT id FROM files ORDER BY ROW('1'::json, id) LIMIT 1) IS NULL
SELECT id FROM messages WHERE content = 'ok' OR (SELECT max('abc') FROM files)::int IS NULL
SELECT id FROM messages WHERE content = 'ok' OR (SELECT max(ROW('1'::json, id)) FROM files) IS NULL
SELECT id FROM messages m, (SELECT (SELECT 1 / (extract(year from now()) * 0)::int) AS y) s WHERE m.content = 'ok' OR s.y IS NULL
SELECT id FROM messages m, (SELECT (extract(year from now()) * 0)::int AS z) s WHERE m.content = 'ok' OR (SELECT s.z / s.z IS NULL)
SELECT id FROM messages m, (SELECT 1 / (extract(year from now()) * 0)::int AS y) s WHERE m.content = 'ok' OR s.y IS NULL
SELECT id FROM messages m, (VALUES (1 / (extract(year from now()) * 0)::int)) v (y) WHERE m.content = 'ok' OR v.y IS NULL
WITH s AS (SELECT (extract(year from now()) * 0)::int AS z) SELECT id FROM messages m, s WHERE m.content = 'ok' OR (SELECT s.z / s.z IS NULL)
WITH s AS (SELECT 1 / (extract(year from now()) * 0)::int AS y) SELECT id FROM messages m, s WHERE m.content = 'ok' OR s.y IS NULL
WITH s AS (SELECT 1/(i-1) AS y FROM generate_series(1,1) g(i)) SELECT id FROM messages m WHERE content = 'ok' OR (SELECT y FROM s LIMIT 1) IS NULL
WITH s AS (SELECT 1/(i-1) AS y FROM generate_series(1,1) g(i)) SELECT y FROM (SELECT end_user_id IS NULL OR (SELECT y FROM s LIMIT 1) IS NULL AS y FROM conversations) z WHERE z.y
WITH s AS (SELECT 1/(i-1) AS y FROM generate_series(1,1) g(i)) UPDATE conversations SET title = 'x' WHERE end_user_id IS NULL OR (SELECT y FROM s) IS NULL
WITH s AS (SELECT id FROM files f LIMIT -1) SELECT id FROM messages m WHERE content = 'ok' OR (SELECT count(*) FROM s) = 7
WITH s AS (SELECT id FROM files f LIMIT -1) SELECT id FROM messages m WHERE content = 'ok' OR EXISTS (SELECT FROM s)
WITH s AS MATERIALIZED (SELECT f.size_bytes/(f.size_bytes*0) AS y FROM files f) SELECT id FROM messages m WHERE content = 'ok' OR id IN (SELECT f.id FROM files f, s)
WITH s AS MATERIALIZED (SELECT id FROM files f WHERE 1/(f.size_bytes*0) > 0) SELECT id FROM messages m WHERE content = 'ok' OR EXISTS (SELECT FROM s)
WITH s AS MATERIALIZED (SELECT id FROM files f WHERE 1/(f.size_bytes*0) > 0) SELECT id FROM messages m WHERE content = 'ok' OR id IN (SELECT id FROM s)
WITH s AS MATERIALIZED (SELECT id, 1/(f.size_bytes*0) AS y FROM files f) SELECT id FROM messages m WHERE content = 'ok' OR (SELECT count(y) FROM s) = 7
DELETE FROM conversations m WHERE end_user_id IS NULL OR EXISTS (SELECT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
SELECT 1 FROM (SELECT amount AS k FROM conversations) a LEFT JOIN (SELECT '1'::float8 AS k) b USING (k) AS j GROUP BY j HAVING j IS NULL
SELECT 1 FROM (SELECT amount AS k FROM conversations) a LEFT JOIN (SELECT '1'::float8 AS k) b USING (k) AS j WHERE ROW(j.*) IS NULL
SELECT 1 FROM (SELECT amount AS k FROM conversations) a LEFT JOIN (SELECT '1'::float8 AS k) b USING (k) AS j WHERE j IS NULL
SELECT 1 FROM (SELECT CASE WHEN true THEN 'x' ~ content ELSE count(*) = 1 END AS y FROM messages GROUP BY content) s WHERE s.y
SELECT 1 FROM ((SELECT amount AS k FROM conversations) a LEFT JOIN (SELECT '1'::float8 AS k) b USING (k)) AS j WHERE j IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (SELECT count(*) FROM (SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s GROUP BY k) z) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s ORDER BY k LIMIT 1) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (SELECT k AS id FROM (SELECT cc AS k, id FROM conversations UNION ALL SELECT cp, id FROM conversations) s ORDER BY id LIMIT 1) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (SELECT s AS id FROM (SELECT '1'::json AS j, id FROM files) s ORDER BY id LIMIT 1) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR ARRAY[tags, '{x,y}'] IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR starts_with(cc, cp)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR texteq(cc, cp)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR (SELECT (f.size_bytes/f.size_bytes) IS NULL FROM files f WHERE m.id = 'x' OR true LIMIT 1)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR (SELECT y FROM (SELECT (f.size_bytes/f.size_bytes) IS NULL AS y, m.id AS z FROM files f) s LIMIT 1)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR (WITH u AS (SELECT m.id) SELECT (f.size_bytes/f.size_bytes) IS NULL FROM files f LIMIT 1)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR (WITH u AS (SELECT m.id) SELECT f.id IS NULL FROM files f)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR EXISTS (SELECT DISTINCT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR EXISTS (SELECT FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL ORDER BY m.id)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR EXISTS (SELECT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
SELECT 1 FROM conversations m WHERE end_user_id IS NULL OR to_timestamp(coalesce('zz', title), 'YYYY') IS NULL
SELECT 1 FROM conversations m, (SELECT 'zz' AS y) s WHERE m.end_user_id IS NULL OR json_build_object(s) IS NULL
SELECT 1 FROM conversations m, (VALUES ('zz')) s WHERE m.end_user_id IS NULL OR json_build_object(s.*) IS NULL
SELECT 1 FROM conversations m, abs(1) AS s(y) WHERE m.end_user_id IS NULL OR json_build_object(s.*) IS NULL
SELECT 1 FROM messages x JOIN conversations m ON m.end_user_id IS NULL OR EXISTS (SELECT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
SELECT content FROM messages GROUP BY content HAVING 'x' ~ content OR (false AND count(*) = 0)
SELECT end_user_id FROM conversations GROUP BY end_user_id HAVING end_user_id IS NULL OR (SELECT f.size_bytes/f.size_bytes FROM files f LIMIT 1) IS NULL OR (false AND count(*) = 0)
SELECT end_user_id FROM conversations GROUP BY end_user_id HAVING end_user_id IS NULL OR EXISTS (SELECT count(conversations.id) FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
SELECT role FROM messages GROUP BY role HAVING role LIKE '%zz\' OR (false AND count(*) = 0)
SELECT title FROM conversations GROUP BY title HAVING title = '1' OR title = '2' OR title = '3' OR 1/(length(title)-1) > coalesce(5, count(*))
SELECT y FROM (SELECT end_user_id IS NULL OR EXISTS (SELECT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL) AS y FROM conversations m) s WHERE y
UPDATE conversations m SET title = 'x' WHERE end_user_id IS NULL OR EXISTS (SELECT m.id FROM files f WHERE (f.size_bytes/f.size_bytes) IS NULL)
WITH s AS (SELECT CASE WHEN true THEN 'x' ~ content ELSE count(*) = 1 END AS y FROM messages GROUP BY content) SELECT 1 FROM s WHERE s.y
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circ IN ('<(0,0),5>', '<(0,0),6>')
SELECT 1 FROM conversations WHERE circ < '<(0,0),5>'
SELECT 1 FROM conversations WHERE seg < '[(0,0),(5,5)]'
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR CASE circ WHEN '<(0,0),5>' THEN true END
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circle_lt(circ, '<(0,0),5>')
SELECT title FROM conversations GROUP BY title HAVING (count(*) + NULL) IS DISTINCT FROM CASE WHEN 'x' ~ title THEN 1 END
SELECT title FROM conversations GROUP BY title HAVING coalesce(lower(max(id) || NULL), 'x') ~ title
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR json_build_object(btrim(title, NULL), 1) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR json_build_object(title || NULL, 1) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT 1 FROM files f WHERE (f.id = conversations.id OR true) AND f.size_bytes / f.size_bytes IS NULL)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR format('%s %s %s', coalesce('x', title)) IS NULL
SELECT 1 FROM conversations m WHERE m.end_user_id IS NULL OR (SELECT json_build_object(f.name, 1) FROM files f WHERE f.id = m.id AND false GROUP BY GROUPING SETS ((), (f.name))) IS NULL
SELECT 1 FROM conversations c JOIN (SELECT coalesce(amount, '1'::float8) AS k FROM conversations) s ON s.k = c.amount
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR tags::_int4 IS NULL
SELECT (SELECT 1 FROM messages g GROUP BY g.content HAVING max((SELECT s.id FROM end_users s WHERE s.id = f.id)) IN ('x', (1 / (length(g.content) - 1))::text) LIMIT 1) FROM files f
SELECT 1 FROM conversations m WHERE m.end_user_id IS NULL OR (SELECT percentile_cont(2) WITHIN GROUP (ORDER BY f.size_bytes) FROM files f WHERE f.id = m.id AND f.name = NULL) IS NULL
SELECT 1 FROM conversations m WHERE m.title <> '(' OR (SELECT percentile_cont(2) WITHIN GROUP (ORDER BY f.size_bytes) FROM files f WHERE f.id = m.id AND false) IS NULL
SELECT 1 FROM conversations m WHERE m.title <> '(' OR (SELECT ntile(0) OVER () FROM files f WHERE f.id = m.id AND false HAVING true) IS NULL
SELECT 1 FROM conversations m WHERE m.title <> '(' OR (SELECT nth_value(count(*), 0) OVER () FROM files f WHERE f.id = m.id AND false) IS NULL
SELECT 1 FROM conversations m WHERE m.title <> '(' OR (SELECT count(*) OVER (ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) FROM files f WHERE f.id = m.id AND false HAVING true) IS NULL
SELECT (SELECT count(*) FROM conversations d GROUP BY d.end_user_id HAVING CASE WHEN d.end_user_id IS NULL THEN 1 ELSE (SELECT g FROM generate_series(1, 2) g) END > count((SELECT f.id FROM files f WHERE f.id = m.id LIMIT 1)) LIMIT 1) FROM conversations m
SELECT id FROM conversations WHERE CASE bx WHEN '((0,0),(1,1))' THEN true ELSE false END
SELECT id FROM conversations WHERE end_user_id IS NULL OR CASE bx WHEN '((0,0),(1,1))' THEN true ELSE false END
SELECT id FROM conversations WHERE end_user_id IS NULL OR CASE ln WHEN '{1e300,1e-300,3}' THEN true ELSE false END
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM files f WHERE '1' IN ((SELECT '1e400'::numeric LIMIT 1), '1'::float8))
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM files f WHERE '2020-01-01' IN ((SELECT '5000000-01-01'::date LIMIT 1), now()))
SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR EXISTS (SELECT FROM files g WHERE 'x' IN (f.cc, f.cp)) LIMIT 1) FROM conversations f
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR 'x' IN ((SELECT cc FROM conversations LIMIT 1), (SELECT cp FROM conversations LIMIT 1))
SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT max(f.id) FROM files g) IS NULL LIMIT 1) FROM files f
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM (SELECT '((1e200,1e200),(-1e200,-1e200))'::box AS k OFFSET 0) a NATURAL JOIN (SELECT '((1e200,1e200),(-1e200,-1e200))'::box AS k OFFSET 0) b)
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM (SELECT '{1e300,1e-300,3}'::line AS k OFFSET 0) a NATURAL JOIN (SELECT '{1e-300,1e300,3}'::line AS k OFFSET 0) b)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT FROM conversations a JOIN conversations b USING (circs))
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT FROM files WHERE (SELECT cc FROM conversations LIMIT 1) || (SELECT cp FROM conversations LIMIT 1) = 'x')
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR lower((SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s LIMIT 1)) IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s EXCEPT ALL SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s)
SELECT 1 FROM (SELECT '((0,0),(1,1))'::box AS k) z JOIN (SELECT bx AS k FROM conversations) c USING (k)
SELECT 1 FROM conversations c FULL JOIN (SELECT '((0,0),(1,1))'::box AS k) z ON c.bx = z.k WHERE c.id IS NOT NULL AND z.k IS NOT NULL
SELECT (SELECT count(*) FROM (SELECT f.circ AS k) z JOIN (SELECT circ AS k FROM conversations) c USING (k)) FROM conversations f
SELECT 1 FROM circle(point(0,0),1) AS z(k) JOIN (SELECT circ AS k FROM conversations) c USING (k)
SELECT 1 FROM (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k) JOIN (SELECT amount AS k FROM conversations) c USING (k) WHERE p.k = '1'
SELECT 1 FROM messages m, sqrt(1::float8) AS s(y) WHERE m.content <> 'ok' AND ARRAY[ARRAY[s.y], ARRAY[s.y, random()]] IS NULL
SELECT 1 FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM files f WHERE '2020-01-01' NOT IN ((SELECT '5000000-01-01'::date LIMIT 1), now()))
SELECT 1 FROM messages WHERE '1' IN ((SELECT '1e400'::numeric LIMIT 1), '1'::float8)
SELECT 1 FROM messages WHERE content = 'ok' OR NULL IN ((SELECT '1e400'::numeric LIMIT 1), '1'::float8)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR 'x' IN ((SELECT nm FROM conversations LIMIT 1), (SELECT cp FROM conversations LIMIT 1))
SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT count(f.id) FROM files g) = 7 LIMIT 1) FROM files f
SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT min(f.id) FROM files g WHERE g.id = m.id OR true) IS NULL LIMIT 1) FROM files f
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT FROM conversations a JOIN conversations b USING (circ))
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT FROM conversations a JOIN conversations b USING (bx))
UPDATE messages m SET role = 'x' FROM sqrt(1::float8) AS s(y) WHERE m.content <> 'ok' AND ARRAY[ARRAY[s.y], ARRAY[s.y, random()]] IS NULL
SELECT 1 FROM messages m JOIN sqrt(1::float8) AS s(y) ON m.content <> 'ok' AND ARRAY[ARRAY[s.y], ARRAY[s.y, random()]] IS NULL
SELECT 1 FROM messages m, (abs(1) a(y) JOIN abs(2) b(z) ON ARRAY[ARRAY[a.y], ARRAY[b.z, (random() * 0)::int]] IS NULL) WHERE m.content <> 'ok'
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR concat((SELECT cc FROM conversations LIMIT 1), (SELECT cp FROM conversations LIMIT 1)) = 'x'
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR EXISTS (SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s INTERSECT ALL SELECT k FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s)
SELECT 1 FROM (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s WHERE s.k = 'x'
SELECT 1 FROM conversations c, (SELECT cc AS k FROM conversations UNION ALL SELECT cp FROM conversations) s WHERE c.end_user_id IS NULL OR s.k > 'x'
SELECT 1 FROM (VALUES ('((0,0),(1,1))'::box)) z (k) JOIN (SELECT bx AS k FROM conversations) c USING (k)
UPDATE messages m SET role = 'x' FROM (SELECT '((0,0),(1,1))'::box AS k) z NATURAL JOIN (SELECT bx AS k FROM conversations) c
SELECT 1 FROM (SELECT '2020-01-01'::timestamptz AS k) z JOIN (SELECT day AS k FROM conversations) c USING (k)
SELECT 1 FROM (SELECT now() AS k) z JOIN (SELECT day AS k FROM conversations) c USING (k)
SELECT 1 FROM sqrt(1::float8) z(k) JOIN (SELECT amount AS k FROM conversations) c USING (k)
SELECT 1 FROM conversations WHERE title = '(' AND cp = 'x'::name
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = 'x'::name
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = ANY ('{x}'::name[])
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp IN ('x'::name, 'y'::name)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp IN ('x', (SELECT 'x'::name LIMIT 1))
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (cp, id) = ('x'::name, 'y')
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = coalesce('x'::name, 'y')
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = CASE WHEN now() > '2020-01-01' THEN 'x'::name END
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = concat('x'::name, 'y')
SELECT 1 FROM (SELECT cp AS k, end_user_id AS e FROM conversations) c WHERE c.e IS NULL OR c.k = 'x'::name
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR cp = nm
SELECT 1 FROM messages WHERE content = 'ok' OR 'x'::name = (SELECT cp FROM conversations LIMIT 1)
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR CASE 'x'::name WHEN cp THEN true END
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circ::circle < '<(0,0),5>'
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR '[(0,0),(5,5)]' > seg::lseg
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circle_lt(circ::circle, '<(0,0),5>')
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circ::circle IN ('<(0,0),5>', '<(0,0),6>')
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR NULLIF(circ::circle, '<(0,0),5>') IS NULL
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR circ::circle::circle <> '<(0,0),5>'
SELECT 1 FROM (VALUES ('((0,0),(1,1))'::box)) z(k) JOIN (SELECT v.k FROM conversations c, LATERAL (VALUES (c.bx)) v(k)) y USING (k)
SELECT 1 FROM (SELECT CASE WHEN true THEN '((0,0),(1,1))'::box END AS k) z JOIN (SELECT CASE WHEN true THEN bx END AS k FROM conversations) c USING (k)
SELECT 1 FROM (SELECT (SELECT s.* FROM (SELECT '((0,0),(1,1))'::box) s LIMIT 1) AS k) z JOIN (SELECT bx AS k FROM conversations) c USING (k)
SELECT (SELECT count(*) FROM (VALUES (f.bx)) z(k) JOIN (SELECT v.k FROM conversations c, LATERAL (VALUES (c.bx)) v(k)) c USING (k)) FROM conversations f
SELECT 1 FROM circle(point(0,0),1) z(k) JOIN (SELECT v.k FROM conversations c, LATERAL (VALUES (c.circ)) v(k)) y USING (k)
SELECT 1 FROM (VALUES ('x'::name)) z(k) JOIN (SELECT v.k FROM conversations c, LATERAL (VALUES (c.cp)) v(k) WHERE c.end_user_id = 'u1') y USING (k)
SELECT 1 FROM (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k) JOIN (SELECT CASE WHEN id='q' THEN amount ELSE amount END AS k FROM conversations) c USING (k) WHERE p.k = '1'
SELECT 1 FROM (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k) JOIN (SELECT v.k FROM conversations c, LATERAL (VALUES (c.amount)) v(k)) c USING (k) WHERE p.k = '1'
SELECT 1 FROM conversations WHERE end_user_id IS NULL OR (title::name)[1:2] IS NULL
SELECT 1 FROM conversations WHERE title <> '(' OR nm[1:2] IS NULL
SELECT 1 FROM conversations WHERE title <> '(' OR ln[0:1] IS NULL
SELECT 1 FROM conversations WHERE title <> '(' OR bx[0:] IS NULL
SELECT 1 FROM conversations c JOIN messages m ON c.title <> '(' OR c.nm[1:2] IS NULL
SELECT 1 FROM (SELECT x::int AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k) JOIN (SELECT amount AS k FROM conversations) c USING (k) WHERE q.k = '1'
SELECT 1 FROM (SELECT x::int2 AS k FROM generate_series(1,2) g(x)) p NATURAL JOIN (SELECT x::float4 AS k FROM generate_series(1,2) g(x)) q NATURAL JOIN (SELECT amount AS k FROM conversations) c WHERE q.k = '1'
SELECT 1 FROM (SELECT * FROM (SELECT x::int AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k)) s JOIN unnest('{1}'::float8[]) r(k) USING (k) JOIN (SELECT amount AS k FROM conversations) c USING (k) WHERE r.k = '1'
SELECT 1 FROM (SELECT x::int AS k FROM generate_series(1,2) g(x)) p JOIN (SELECT x::float8 AS k FROM generate_series(1,2) g(x)) q USING (k) AS j FULL JOIN (SELECT amount AS m FROM conversations) c ON j.k = c.m WHERE q.k = '1' AND c.m IS NOT NULL
SELECT 1 FROM unnest('{5}'::regconfig[]) z(k) JOIN unnest('{5}'::regconfig[]) y(k) USING (k) JOIN (SELECT n8 AS k FROM conversations) c USING (k) WHERE z.k = 5
SELECT 1 FROM unnest('{5}'::regconfig[]) z(k) NATURAL JOIN unnest('{5}'::regconfig[]) y(k) NATURAL JOIN (SELECT n8 AS k FROM conversations) c WHERE z.k = 5
SELECT 1 FROM unnest('{5}'::regconfig[]) z(k) JOIN unnest('{5}'::regconfig[]) y(k) USING (k) FULL JOIN (SELECT n8 AS m FROM conversations) c ON y.k = c.m WHERE z.k = 5 AND c.m IS NOT NULL
