\set VERBOSITY sqlstate
PREPARE put (int8, text) AS INSERT INTO samples (id, t) VALUES ($1, $2);
EXECUTE put (1, 'eins');
EXECUTE put (2, NULL);
PREPARE get AS SELECT id, t FROM samples WHERE id = $1;
EXECUTE get (1);
PREPARE get AS SELECT 1;
DEALLOCATE get;
EXECUTE get (1);
DEALLOCATE ALL;
