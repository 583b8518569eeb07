-- The rows of the two victims, srv-b and srv-c. Every column bears a canary: the word
-- CANARY, the number 7770777, or the day 1977-07-07. The ids m1, u1, c1 and f1 are those of
-- the attacker's rows too, some values repeat, so that they are in the statistics, and some
-- are no valid regular expression, so that a predicate fails on them.

INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, phone_number, password_hash, created_at, updated_at)
SELECT CASE n WHEN 1 THEN 'u1' ELSE 'CANARY-u' || n END, s, 'CANARY-x' || n, 'CANARY-user' || n % 3, 'CANARY name ' || n % 4,
  CASE n WHEN 2 THEN 'victim-canary@example.org' ELSE 'canary' || n || '@example.org' END, 'CANARY 7770777', 'CANARY-hash', '1977-07-07', '1977-07-07'
FROM unnest(ARRAY['srv-b', 'srv-c']) s, generate_series(1, 30) n;
INSERT INTO public.conversations (id, server_id, end_user_id, title, created_at, updated_at)
SELECT CASE n WHEN 1 THEN 'c1' ELSE 'CANARY-c' || n END, s, 'u1', 'CANARY [title ' || n % 5, '1977-07-07', '1977-07-07'
FROM unnest(ARRAY['srv-b', 'srv-c']) s, generate_series(1, 30) n;
INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata, created_at)
SELECT CASE n WHEN 1 THEN 'm1' ELSE 'CANARY-m' || n END, s, 'c1', 'CANARY-role', 'CANARY (content ' || n % 5,
  jsonb_build_object('n', 'CANARY' || n, 'CANARY-key', ARRAY['CANARY', 'a']), '1977-07-07'
FROM unnest(ARRAY['srv-b', 'srv-c']) s, generate_series(1, 40) n;
INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at)
SELECT CASE n WHEN 1 THEN 'f1' ELSE 'CANARY-f' || n END, s, 'u1', 'c1', 'CANARY-' || n || '.txt', 'CANARY/type', 7770777 + n % 3, 'CANARY-key', '1977-07-07'
FROM unnest(ARRAY['srv-b', 'srv-c']) s, generate_series(1, 30) n;

-- The second victim's id differs from the attacker's in case only, where the type allows it.
INSERT INTO shop.orders (tenant, id, state, total, note, tags, card, placed)
SELECT t::uuid, CASE n WHEN 1 THEN 1 ELSE 7770777000 + n END, 'paid', 7770777 + n % 3, 'CANARY (note ' || n % 4, ARRAY['CANARY', 'red'], 'CANARY-card', '1977-07-07'
FROM unnest(ARRAY['0b000000-0000-7000-8000-00000000000b', '0c000000-0000-7000-8000-00000000000c']) t, generate_series(1, 40) n;
INSERT INTO shop.events SELECT '0b000000-0000-7000-8000-00000000000b', n * 10, 'CANARY event' FROM generate_series(1, 15) n;
INSERT INTO shop.cased VALUES ('0b000000-0000-7000-8000-00000000000b', 1, 'CANARY'), ('0A000000-0000-7000-8000-00000000000A', 1, 'CANARY twin');
INSERT INTO shop.padded VALUES ('0b000000-0000-7000-8000-00000000000b', 1, 'CANARY');
INSERT INTO shop.secrets VALUES ('0b000000-0000-7000-8000-00000000000b', 'CANARY secret');
REFRESH MATERIALIZED VIEW shop.totals;
