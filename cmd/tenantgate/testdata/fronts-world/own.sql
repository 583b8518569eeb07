-- The rows of the server under test, made anew.

DELETE FROM public.messages WHERE server_id = '{{id}}';
DELETE FROM public.files WHERE server_id = '{{id}}';
DELETE FROM public.conversations WHERE server_id = '{{id}}';
DELETE FROM public.end_users WHERE server_id = '{{id}}';
DELETE FROM shop.orders WHERE tenant::text = lower('{{id}}');
DELETE FROM shop.badges WHERE tenant = '{{id}}';
INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, created_at, updated_at) VALUES
  ('1', '{{id}}', 'x1', 'ada', 'Ada', 'ada@example.com', '2026-01-01', '2026-01-01'),
  ('u1', '{{id}}', 'x2', 'grace', 'Grace', '', '2026-01-02', '2026-01-02');
INSERT INTO public.conversations (id, server_id, end_user_id, title, created_at, updated_at) VALUES
  ('1', '{{id}}', '1', 'First', '2026-01-01', '2026-01-01'),
  ('c1', '{{id}}', 'u1', 'Second', '2026-01-02', '2026-01-02');
INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata, created_at) VALUES
  ('1', '{{id}}', 'c1', 'user', '11', '{"n": 1, "tags": ["a"]}', '2026-01-01'),
  ('m1', '{{id}}', '1', 'a', '22', '{"n": 2}', '2026-01-02');
INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at) VALUES
  ('1', '{{id}}', '1', '1', 'one.txt', 'text/plain', 100, 's1', '2026-01-01');
