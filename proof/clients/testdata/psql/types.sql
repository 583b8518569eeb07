\pset null ∅
INSERT INTO samples (id, i2, i4, i8, num, f4, f8, b, t, vc, raw, d, tm, ts, tz, iv, u, j, jb, ints, texts) VALUES
	(1, -32768, 2147483647, -9223372036854775808, 12345678901234567890.123456789, 1.5, 1e-300, true, 'ü∑🐘', 'v', '\x00ff10', '2024-02-29', '23:59:59.999999',
	'2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789+02', '1 year 2 mons 3 days 04:05:06', '6f9619ff-8b86-d011-b42d-00c04fc964ff', '{"a":1}', '{"b": [true, null]}',
	'{1,NULL,-3}', '{a,"b c",NULL,"q\"q"}'),
	(2, NULL, NULL, NULL, 'NaN', 'Infinity', '-Infinity', NULL, '', NULL, '', 'infinity', NULL, '-infinity', '0044-03-15 00:00:00+00 BC', NULL, NULL, 'null', 'null', '{}', '{{a,b},{c,d}}');
\x
SELECT i2, i4, i8, num, f4, f8, b, t, vc, raw, d, tm, ts, tz, iv, u, j, jb, ints, texts FROM samples ORDER BY id;
\x
SELECT count(*), avg(i4), sum(i8), max(d), bool_or(b), string_agg(t, ',' ORDER BY id), array_agg(id ORDER BY id DESC) FROM samples;
SELECT jb -> 'b' -> 0, ints[1], texts[1][2], i4 / 2.0, d - 1, tz AT TIME ZONE 'UTC' FROM samples ORDER BY id;
SELECT 1::int2, 2::int8, 0.10::numeric, '1'::bool, 'x'::char(3) || '|', B'101', '10.0.0.0/8'::inet, '[1,5)'::int4range;
