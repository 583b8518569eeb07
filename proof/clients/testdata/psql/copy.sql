\set VERBOSITY sqlstate
INSERT INTO samples (id, t, b) VALUES (1, 'tab	and \ and ü', true), (2, NULL, false);
COPY (SELECT id, t, b FROM samples ORDER BY id) TO STDOUT;
COPY (SELECT id, t, b FROM samples ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER, NULL '∅');
\copy (SELECT id, b FROM samples ORDER BY id) TO STDOUT CSV
COPY samples (id, t, i4, ints) FROM STDIN;
3	drei	3	{1,2}
4	\N	\N	\N
\.
\copy samples (id, t) FROM STDIN WITH (FORMAT csv, QUOTE '''', DELIMITER ';')
5;'fünf;5'
6;
\.
SELECT id, t, i4, ints FROM samples WHERE id > 2 ORDER BY id;
COPY samples (id) FROM STDIN;
7
3
\.
COPY samples (id) FROM STDIN;
x
\.
SELECT count(*) FROM samples;
BEGIN;
COPY samples (id) FROM STDIN;
100
\.
ROLLBACK;
SELECT count(*) FROM samples;
