SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) AS formatted_type, info.numeric_precision, info.is_nullable, info.column_default
FROM information_schema.columns info
JOIN pg_attribute att ON att.attname = info.column_name
JOIN (SELECT pg_class.oid, relname, pg_namespace.nspname AS namespace FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace) AS oid
  ON oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
WHERE namespace = ANY ($1) ORDER BY namespace, table_name, ordinal_position;
----
select * from information_schema.columns where table_name = $1 and table_catalog = $2 and table_schema = current_schema()
----
SELECT "table_schema", "table_name", obj_description(('"' || "table_schema" || '"."' || "table_name" || '"')::regclass, 'pg_class') AS table_comment FROM "information_schema"."tables" WHERE ("table_schema" = 'public' AND "table_name" = 'messages')
----
SELECT columns.*, pg_catalog.col_description(('"' || table_catalog || '"."' || table_schema || '"."' || table_name || '"')::regclass::oid, ordinal_position) AS description, ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype" AS "regtype", pg_catalog.format_type("col_attr"."atttypid", "col_attr"."atttypmod") AS "format_type" FROM "information_schema"."columns" LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" = "columns"."column_name" WHERE "table_schema" = 'public' AND "table_name" = 'messages'
----
SELECT m.id, c.column_name FROM messages AS m CROSS JOIN information_schema.columns AS c WHERE c.table_name = 'messages'
----
SELECT m.id FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id WHERE EXISTS (SELECT 1 FROM pg_class WHERE relname = m.role)
----
WITH t AS (SELECT nothing FROM pg_tables) SELECT * FROM t
----
SELECT 'messages'::regclass
----
SELECT to_regclass('messages') IS NOT NULL
----
SELECT pg_catalog.pg_total_relation_size('messages')
----
COPY pg_class TO STDOUT
----
COPY (SELECT * FROM pg_class) TO STDOUT
----
SELECT $1::information_schema.sql_identifier
