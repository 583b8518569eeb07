INSERT INTO conversations (id, title) VALUES ('c1', 'Grüße, 世界 🐘'), ('c2', 'it''s');
INSERT INTO messages (id, conversation_id, role, content, metadata) VALUES ('m1', 'c1', 'user', E'two\nlines', '{"a": [1, null]}') RETURNING id, content;
SELECT id, title FROM conversations ORDER BY id;
UPDATE conversations SET title = title || '!' WHERE id = 'c2' RETURNING title;
SELECT c.title, m.content FROM conversations AS c JOIN messages AS m ON m.conversation_id = c.id;
WITH gone AS (DELETE FROM messages WHERE id = 'm1' RETURNING id) SELECT count(*) FROM gone;
DELETE FROM conversations WHERE id = 'nobody';
INSERT INTO samples (id, code, i4) VALUES (1, 'one', 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 10;
INSERT INTO samples (id, code, i4) VALUES (1, 'one', 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 10 RETURNING i4;
INSERT INTO samples (id, code) VALUES (2, 'one') ON CONFLICT (code) DO NOTHING;
INSERT INTO samples (id, code) VALUES (2, 'one') ON CONFLICT DO NOTHING;
SELECT count(*) FROM samples;
SELECT 1 AS one \; SELECT 2 AS two \; UPDATE samples SET i4 = 5;
SELECT id AS which, i4 AS number FROM samples \gset
SELECT :'which' AS which, :number AS number;
SELECT 'SELECT ' || n FROM generate_series(1, 2) AS n \gexec
;
SELECT id, title FROM conversations WHERE id = 'c1' \gx
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v (n, t);
TABLE branches;
VALUES (1), (2);
