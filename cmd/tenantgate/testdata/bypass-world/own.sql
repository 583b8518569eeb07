-- The attacker's rows in the bundled tables; {{id}} is his server. His own values suit
-- every predicate of the corpus: contents are numbers, sizes differ from those of others.

DELETE FROM public.messages WHERE server_id = '{{id}}';
DELETE FROM public.files WHERE server_id = '{{id}}';
DELETE FROM public.conversations WHERE server_id = '{{id}}';
DELETE FROM public.end_users WHERE server_id = '{{id}}';
INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, phone_number, password_hash, created_at, updated_at) VALUES
  ('u1', '{{id}}', 'x1', 'ada', 'Ada', 'ada@example.com', '+44 1', 'own-hash-1', '2026-01-01', '2026-01-01'),
  ('u2', '{{id}}', 'x2', 'grace', 'Grace', 'grace@example.com', NULL, 'own-hash-2', '2026-01-02', '2026-01-02'),
  ('u3', '{{id}}', '', 'linus', 'Linus', '', NULL, NULL, '2026-01-03', '2026-01-03');
INSERT INTO public.conversations (id, server_id, end_user_id, title, created_at, updated_at) VALUES
  ('c1', '{{id}}', 'u1', 'First', '2026-01-01', '2026-01-01'),
  ('c2', '{{id}}', 'u2', 'Second', '2026-01-02', '2026-01-02'),
  ('c3', '{{id}}', NULL, 'Third', '2026-01-03', '2026-01-03');
INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata, created_at) VALUES
  ('m1', '{{id}}', 'c1', 'user', '11', '{"n": 1, "tags": ["a"]}', '2026-01-01'),
  ('m2', '{{id}}', 'c1', 'assistant', '22', '{"n": 2, "tags": ["a", "b"]}', '2026-01-02'),
  ('m3', '{{id}}', 'c2', 'user', '33', '{"n": 3}', '2026-01-03'),
  ('m4', '{{id}}', 'c2', 'assistant', '44', '{"n": 4}', '2026-01-04');
INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at) VALUES
  ('f1', '{{id}}', 'u1', 'c1', 'one.txt', 'text/plain', 100, 's1', '2026-01-01'),
  ('f2', '{{id}}', 'u2', NULL, 'two.txt', 'text/plain', 200, NULL, '2026-01-02');
