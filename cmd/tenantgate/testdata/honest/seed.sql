-- The rows that the honest statements run on. The caller is srv-a. srv-b holds the same ids at
-- the same times, a few more of them, and the word CANARY in each of its texts that is no id;
-- so a statement that sees one row of srv-b has a wrong count or says CANARY.
-- Each half inserts what it needs alone: with the first, the database is srv-a's own.
--
-- What makes the rows useful: u2 and u3 were created at the same instant; u5 has neither e-mail
-- nor external id, and an empty phone number where others have NULL; c3 has no title; c7 has no
-- user; c8 has no messages; each conversation's first message bears the conversation's time
-- (save c8); m15 is empty in every field; metadata->>'replyTo' makes threads; m09's rating is
-- a JSON null; f5's size is above 2^53; f6 has no conversation.

-- srv-a
INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, phone_number, password_hash, created_at, updated_at) VALUES
  ('u1', 'srv-a', 'ext-1001', 'ada', 'Ada Lovelace', 'ada@example.com', '+44 20 7946 0001', 'scrypt$1$ada', '2026-01-01 08:00:00+00', '2026-01-10 09:30:00+00'),
  ('u2', 'srv-a', 'ext-1002', 'grace', 'Grace Hopper', 'Grace.Hopper@Example.com', NULL, 'scrypt$1$grace', '2026-01-03 12:15:30.5+00', '2026-01-03 12:15:30.5+00'),
  ('u3', 'srv-a', 'ext-1003', 'linus', 'Linus Ångström', 'linus@example.org', '+46 8 123 45 67', NULL, '2026-01-03 12:15:30.5+00', '2026-01-20 18:59:00+00'),
  ('u4', 'srv-a', 'ext-1004', 'zoe', 'Zoë Zhào 赵', 'zoe@example.net', NULL, 'scrypt$1$zoe', '2026-01-15 23:59:59.123456+00', '2026-02-10 03:00:00+00'),
  ('u5', 'srv-a', '', 'pat.obrien', 'Pat O''Brien', '', '', 'scrypt$1$pat', '2026-02-01 00:00:00+00', '2026-02-20 12:00:00+00'),
  ('u6', 'srv-a', 'ext-1006', 'test_user', 'Test_User 100%', 'test_user@example.com', '+1 555 0100', NULL, '2026-02-14 17:45:00+00', '2026-02-14 17:45:00+00');

INSERT INTO public.conversations (id, server_id, end_user_id, title, created_at, updated_at) VALUES
  ('c1', 'srv-a', 'u1', 'Analytical engine', '2026-01-05 10:00:00+00', '2026-01-05 10:45:00+00'),
  ('c2', 'srv-a', 'u1', 'Billing question', '2026-01-12 14:20:00+00', '2026-01-12 15:05:30+00'),
  ('c3', 'srv-a', 'u1', '', '2026-02-02 09:00:00+00', '2026-02-02 09:00:00+00'),
  ('c4', 'srv-a', 'u2', 'COBOL compiler error', '2026-01-07 08:30:00+00', '2026-01-09 18:00:00+00'),
  ('c5', 'srv-a', 'u3', 'Smörgåsbord recipe', '2026-01-20 19:00:00+00', '2026-01-20 19:10:00+00'),
  ('c6', 'srv-a', 'u4', '日本語の質問', '2026-02-10 03:15:00+00', '2026-02-10 03:40:00+00'),
  ('c7', 'srv-a', NULL, 'Anonymous visitor', '2026-02-11 22:30:00+00', '2026-02-12 00:05:00+00'),
  ('c8', 'srv-a', 'u5', 'Empty conversation', '2026-02-20 12:00:00+00', '2026-02-20 12:00:00+00');

INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata, created_at) VALUES
  ('m01', 'srv-a', 'c1', 'user', 'Hello, can the engine compute Bernoulli numbers?', '{"lang":"en","tags":["greeting","math"]}', '2026-01-05 10:00:00+00'),
  ('m02', 'srv-a', 'c1', 'assistant', 'Yes. It weaves algebraic patterns just as the Jacquard loom weaves flowers and leaves.', '{"replyTo":"m01","model":"small","usage":{"prompt":14,"completion":22},"cost":0.0125,"tags":["math"]}', '2026-01-05 10:00:05+00'),
  ('m03', 'srv-a', 'c1', 'user', 'How many steps does it take?', '{"replyTo":"m02","lang":"en"}', '2026-01-05 10:05:00+00'),
  ('m04', 'srv-a', 'c1', 'assistant', 'About 25 operations for B7.', '{"replyTo":"m03","model":"large","usage":{"prompt":40,"completion":9},"cost":0.25,"rating":5}', '2026-01-05 10:05:07.25+00'),
  ('m05', 'srv-a', 'c1', 'user', 'Please show the steps; thanks', '{"replyTo":"m04","lang":"en","tags":[]}', '2026-01-05 10:15:00+00'),
  ('m06', 'srv-a', 'c1', 'assistant', 'Step 1: v2 * v4; step 2: v4 - v1.', '{"replyTo":"m05","model":"large","usage":{"prompt":55,"completion":17},"cost":0.5,"rating":4,"attachments":[{"file":"f1","kind":"image"},{"file":"f2","kind":"text"}]}', '2026-01-05 10:15:30+00'),
  ('m07', 'srv-a', 'c1', 'system', 'Conversation summarised', '{"auto":true}', '2026-01-05 10:30:00+00'),
  ('m08', 'srv-a', 'c1', 'user', 'What about 50% fewer cards?', '{"replyTo":"m06","lang":"en"}', '2026-01-05 10:40:00+00'),
  ('m09', 'srv-a', 'c1', 'assistant', 'It''s possible, I think… "maybe".', '{"replyTo":"m08","model":"small","usage":{"prompt":60,"completion":11},"cost":0.0125,"rating":null}', '2026-01-05 10:45:00+00'),
  ('m10', 'srv-a', 'c2', 'user', 'I was charged twice: $10.00 on 2026-01-11.', '{"lang":"en","tags":["billing","urgent"],"priority":1}', '2026-01-12 14:20:00+00'),
  ('m11', 'srv-a', 'c2', 'assistant', 'I''m sorry about that. Could you send the invoice?', '{"replyTo":"m10","model":"small","usage":{"prompt":12,"completion":10},"cost":0.01,"tags":["billing"]}', '2026-01-12 14:20:03+00'),
  ('m12', 'srv-a', 'c2', 'user', 'Attached: C:\invoices\2026-01.pdf', '{"replyTo":"m11","attachments":[{"file":"f3","kind":"pdf"}],"tags":["billing"]}', '2026-01-12 14:50:00+00'),
  ('m13', 'srv-a', 'c2', 'assistant', 'Refund issued (case #42).', '{"replyTo":"m12","model":"large","usage":{"prompt":80,"completion":8},"cost":0.125,"rating":5,"tags":["billing","done"]}', '2026-01-12 15:00:00+00'),
  ('m14', 'srv-a', 'c2', 'user', 'Thank you!!', '{"replyTo":"m13","lang":"en","rating":5}', '2026-01-12 15:05:30+00'),
  ('m15', 'srv-a', 'c3', 'user', '', '{}', '2026-02-02 09:00:00+00'),
  ('m16', 'srv-a', 'c4', 'user', 'IDENTIFICATION DIVISION. PROGRAM-ID. HELLO.', '{"lang":"cobol","tags":["code"]}', '2026-01-07 08:30:00+00'),
  ('m17', 'srv-a', 'c4', 'assistant', 'The compiler found a bug in line 3:
MISSING PERIOD.', '{"replyTo":"m16","model":"small","usage":{"prompt":33,"completion":12},"cost":0.02,"tags":["code","bug"]}', '2026-01-07 08:30:10+00'),
  ('m18', 'srv-a', 'c4', 'user', 'compilers compile compiled compilations', '{"replyTo":"m17"}', '2026-01-07 09:00:00+00'),
  ('m19', 'srv-a', 'c4', 'assistant', 'Run it again with the debugger running.', '{"replyTo":"m18","model":"large","usage":{"prompt":50,"completion":9},"cost":0.2,"rating":3}', '2026-01-07 09:00:12+00'),
  ('m20', 'srv-a', 'c4', 'user', 'It runs now', '{"replyTo":"m19","lang":"en"}', '2026-01-09 17:59:00+00'),
  ('m21', 'srv-a', 'c4', 'assistant', 'Great!', '{"replyTo":"m20","model":"large","usage":{"prompt":61,"completion":2},"cost":0.05,"rating":5}', '2026-01-09 18:00:00+00'),
  ('m22', 'srv-a', 'c5', 'user', 'Hur gör man smörgåsbord?', '{"lang":"sv","tags":["food"]}', '2026-01-20 19:00:00+00'),
  ('m23', 'srv-a', 'c5', 'assistant', 'Börja med sill, lax och köttbullar.', '{"replyTo":"m22","model":"large","usage":{"prompt":20,"completion":15},"cost":0.3,"tags":["food"],"rating":4}', '2026-01-20 19:00:04+00'),
  ('m24', 'srv-a', 'c5', 'user', 'Tack! 🐟', '{"replyTo":"m23","lang":"sv"}', '2026-01-20 19:10:00+00'),
  ('m25', 'srv-a', 'c6', 'user', '東京タワーの高さは?', '{"lang":"ja"}', '2026-02-10 03:15:00+00'),
  ('m26', 'srv-a', 'c6', 'assistant', '333メートルです。', '{"replyTo":"m25","model":"large","usage":{"prompt":18,"completion":6},"cost":0.1,"rating":5}', '2026-02-10 03:15:02+00'),
  ('m27', 'srv-a', 'c6', 'tool', '{"tool":"lookup","ok":true}', '{"replyTo":"m26","result":{"ok":true,"value":333},"ms":12.5}', '2026-02-10 03:40:00+00'),
  ('m28', 'srv-a', 'c7', 'user', 'hello', '{"lang":"en","tags":["greeting"]}', '2026-02-11 22:30:00+00'),
  ('m29', 'srv-a', 'c7', 'assistant', 'Hello! How can I help?', '{"replyTo":"m28","model":"small","usage":{"prompt":5,"completion":7},"cost":0.001}', '2026-02-11 22:30:01+00'),
  ('m30', 'srv-a', 'c7', 'user', 'HELLO AGAIN', '{"replyTo":"m29","lang":"EN"}', '2026-02-12 00:05:00+00');

INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at) VALUES
  ('f1', 'srv-a', 'u1', 'c1', 'diagram.png', 'image/png', 204800, 'k/f1', '2026-01-05 10:14:00+00'),
  ('f2', 'srv-a', 'u1', 'c1', 'notes.txt', 'text/plain', 1536, 'k/f2', '2026-01-05 10:15:00+00'),
  ('f3', 'srv-a', 'u1', 'c2', 'invoice_2026-01.pdf', 'application/pdf', 98304, 'k/f3', '2026-01-12 14:49:30+00'),
  ('f4', 'srv-a', 'u2', 'c4', 'HELLO.CBL', 'text/x-cobol', 512, NULL, '2026-01-07 08:29:00+00'),
  ('f5', 'srv-a', NULL, 'c7', 'archive.tar.gz', 'application/gzip', 9007199254740993, 'k/f5', '2026-02-11 22:45:00+00'),
  ('f6', 'srv-a', 'u4', NULL, 'avatar ü.webp', 'image/webp', 0, NULL, '2026-02-10 03:00:00+00');

-- srv-b
INSERT INTO public.end_users (id, server_id, external_user_id, username, name, email, phone_number, password_hash, created_at, updated_at) VALUES
  ('u1', 'srv-b', 'CANARY ext-1001', 'CANARY ada', 'CANARY Ada Lovelace', 'CANARY-u1@example.com', 'CANARY +44 20 7946 0001', 'CANARY scrypt$1$ada', '2026-01-01 08:00:00+00', '2026-01-10 09:30:00+00'),
  ('u2', 'srv-b', 'CANARY ext-1002', 'CANARY grace', 'CANARY Grace Hopper', 'CANARY-u2@example.com', NULL, 'CANARY scrypt$1$grace', '2026-01-03 12:15:30.5+00', '2026-01-03 12:15:30.5+00'),
  ('u3', 'srv-b', 'CANARY ext-1003', 'CANARY linus', 'CANARY Linus Ångström', 'CANARY-u3@example.com', 'CANARY +46 8 123 45 67', 'CANARY none', '2026-01-03 12:15:30.5+00', '2026-01-20 18:59:00+00'),
  ('u4', 'srv-b', 'CANARY ext-1004', 'CANARY zoe', 'CANARY Zoë Zhào 赵', 'CANARY-u4@example.com', NULL, 'CANARY scrypt$1$zoe', '2026-01-15 23:59:59.123456+00', '2026-02-10 03:00:00+00'),
  ('u5', 'srv-b', 'CANARY ', 'CANARY pat.obrien', 'CANARY Pat O''Brien', 'CANARY-u5@example.com', 'CANARY ', 'CANARY scrypt$1$pat', '2026-02-01 00:00:00+00', '2026-02-20 12:00:00+00'),
  ('u6', 'srv-b', 'CANARY ext-1006', 'CANARY test_user', 'CANARY Test_User 100%', 'CANARY-u6@example.com', 'CANARY +1 555 0100', 'CANARY none', '2026-02-14 17:45:00+00', '2026-02-14 17:45:00+00'),
  ('u7', 'srv-b', 'CANARY ext-1007', 'CANARY mallory', 'CANARY Mallory', 'CANARY-u7@example.com', 'CANARY +1 555 0199', 'CANARY hash', '2026-01-02 00:00:00+00', '2026-02-28 23:59:59+00');

INSERT INTO public.conversations (id, server_id, end_user_id, title, created_at, updated_at) VALUES
  ('c1', 'srv-b', 'u1', 'CANARY Analytical engine', '2026-01-05 10:00:00+00', '2026-01-05 10:45:00+00'),
  ('c2', 'srv-b', 'u1', 'CANARY Billing question', '2026-01-12 14:20:00+00', '2026-01-12 15:05:30+00'),
  ('c3', 'srv-b', 'u1', 'CANARY ', '2026-02-02 09:00:00+00', '2026-02-02 09:00:00+00'),
  ('c4', 'srv-b', 'u2', 'CANARY COBOL compiler error', '2026-01-07 08:30:00+00', '2026-01-09 18:00:00+00'),
  ('c5', 'srv-b', 'u3', 'CANARY Smörgåsbord recipe', '2026-01-20 19:00:00+00', '2026-01-20 19:10:00+00'),
  ('c6', 'srv-b', 'u4', 'CANARY 日本語の質問', '2026-02-10 03:15:00+00', '2026-02-10 03:40:00+00'),
  ('c7', 'srv-b', 'u7', 'CANARY Anonymous visitor', '2026-02-11 22:30:00+00', '2026-02-12 00:05:00+00'),
  ('c8', 'srv-b', 'u5', 'CANARY Empty conversation', '2026-02-20 12:00:00+00', '2026-02-20 12:00:00+00'),
  ('c9', 'srv-b', 'u7', 'CANARY ninth', '2026-01-06 00:00:00+00', '2026-02-28 23:59:59+00');

INSERT INTO public.messages (id, server_id, conversation_id, role, content, metadata, created_at) VALUES
  ('m01', 'srv-b', 'c1', 'CANARY user', 'CANARY Hello, can the engine compute Bernoulli numbers?', '{"lang":"CANARY en","tags":["CANARY greeting","CANARY math"]}', '2026-01-05 10:00:00+00'),
  ('m02', 'srv-b', 'c1', 'CANARY assistant', 'CANARY Yes. It weaves algebraic patterns just as the Jacquard loom weaves flowers and leaves.', '{"replyTo":"m01","model":"CANARY small","usage":{"prompt":14,"completion":22},"cost":0.0125,"tags":["CANARY math"]}', '2026-01-05 10:00:05+00'),
  ('m03', 'srv-b', 'c1', 'CANARY user', 'CANARY How many steps does it take?', '{"replyTo":"m02","lang":"CANARY en"}', '2026-01-05 10:05:00+00'),
  ('m04', 'srv-b', 'c1', 'CANARY assistant', 'CANARY About 25 operations for B7.', '{"replyTo":"m03","model":"CANARY large","usage":{"prompt":40,"completion":9},"cost":0.25,"rating":5}', '2026-01-05 10:05:07.25+00'),
  ('m05', 'srv-b', 'c1', 'CANARY user', 'CANARY Please show the steps; thanks', '{"replyTo":"m04","lang":"CANARY en","tags":[]}', '2026-01-05 10:15:00+00'),
  ('m06', 'srv-b', 'c1', 'CANARY assistant', 'CANARY Step 1: v2 * v4; step 2: v4 - v1.', '{"replyTo":"m05","model":"CANARY large","usage":{"prompt":55,"completion":17},"cost":0.5,"rating":4,"attachments":[{"file":"f1","kind":"CANARY image"},{"file":"f2","kind":"CANARY text"}]}', '2026-01-05 10:15:30+00'),
  ('m07', 'srv-b', 'c1', 'CANARY system', 'CANARY Conversation summarised', '{"auto":true}', '2026-01-05 10:30:00+00'),
  ('m08', 'srv-b', 'c1', 'CANARY user', 'CANARY What about 50% fewer cards?', '{"replyTo":"m06","lang":"CANARY en"}', '2026-01-05 10:40:00+00'),
  ('m09', 'srv-b', 'c1', 'CANARY assistant', 'CANARY It''s possible, I think… "maybe".', '{"replyTo":"m08","model":"CANARY small","usage":{"prompt":60,"completion":11},"cost":0.0125,"rating":null}', '2026-01-05 10:45:00+00'),
  ('m10', 'srv-b', 'c2', 'CANARY user', 'CANARY I was charged twice: $10.00 on 2026-01-11.', '{"lang":"CANARY en","tags":["CANARY billing","CANARY urgent"],"priority":1}', '2026-01-12 14:20:00+00'),
  ('m11', 'srv-b', 'c2', 'CANARY assistant', 'CANARY I''m sorry about that. Could you send the invoice?', '{"replyTo":"m10","model":"CANARY small","usage":{"prompt":12,"completion":10},"cost":0.01,"tags":["CANARY billing"]}', '2026-01-12 14:20:03+00'),
  ('m12', 'srv-b', 'c2', 'CANARY user', 'CANARY Attached: C:\invoices\2026-01.pdf', '{"replyTo":"m11","attachments":[{"file":"f3","kind":"CANARY pdf"}],"tags":["CANARY billing"]}', '2026-01-12 14:50:00+00'),
  ('m13', 'srv-b', 'c2', 'CANARY assistant', 'CANARY Refund issued (case #42).', '{"replyTo":"m12","model":"CANARY large","usage":{"prompt":80,"completion":8},"cost":0.125,"rating":5,"tags":["CANARY billing","CANARY done"]}', '2026-01-12 15:00:00+00'),
  ('m14', 'srv-b', 'c2', 'CANARY user', 'CANARY Thank you!!', '{"replyTo":"m13","lang":"CANARY en","rating":5}', '2026-01-12 15:05:30+00'),
  ('m15', 'srv-b', 'c3', 'CANARY user', 'CANARY ', '{}', '2026-02-02 09:00:00+00'),
  ('m16', 'srv-b', 'c4', 'CANARY user', 'CANARY IDENTIFICATION DIVISION. PROGRAM-ID. HELLO.', '{"lang":"CANARY cobol","tags":["CANARY code"]}', '2026-01-07 08:30:00+00'),
  ('m17', 'srv-b', 'c4', 'CANARY assistant', 'CANARY The compiler found a bug in line 3:
MISSING PERIOD.', '{"replyTo":"m16","model":"CANARY small","usage":{"prompt":33,"completion":12},"cost":0.02,"tags":["CANARY code","CANARY bug"]}', '2026-01-07 08:30:10+00'),
  ('m18', 'srv-b', 'c4', 'CANARY user', 'CANARY compilers compile compiled compilations', '{"replyTo":"m17"}', '2026-01-07 09:00:00+00'),
  ('m19', 'srv-b', 'c4', 'CANARY assistant', 'CANARY Run it again with the debugger running.', '{"replyTo":"m18","model":"CANARY large","usage":{"prompt":50,"completion":9},"cost":0.2,"rating":3}', '2026-01-07 09:00:12+00'),
  ('m20', 'srv-b', 'c4', 'CANARY user', 'CANARY It runs now', '{"replyTo":"m19","lang":"CANARY en"}', '2026-01-09 17:59:00+00'),
  ('m21', 'srv-b', 'c4', 'CANARY assistant', 'CANARY Great!', '{"replyTo":"m20","model":"CANARY large","usage":{"prompt":61,"completion":2},"cost":0.05,"rating":5}', '2026-01-09 18:00:00+00'),
  ('m22', 'srv-b', 'c5', 'CANARY user', 'CANARY Hur gör man smörgåsbord?', '{"lang":"CANARY sv","tags":["CANARY food"]}', '2026-01-20 19:00:00+00'),
  ('m23', 'srv-b', 'c5', 'CANARY assistant', 'CANARY Börja med sill, lax och köttbullar.', '{"replyTo":"m22","model":"CANARY large","usage":{"prompt":20,"completion":15},"cost":0.3,"tags":["CANARY food"],"rating":4}', '2026-01-20 19:00:04+00'),
  ('m24', 'srv-b', 'c5', 'CANARY user', 'CANARY Tack! 🐟', '{"replyTo":"m23","lang":"CANARY sv"}', '2026-01-20 19:10:00+00'),
  ('m25', 'srv-b', 'c6', 'CANARY user', 'CANARY 東京タワーの高さは?', '{"lang":"CANARY ja"}', '2026-02-10 03:15:00+00'),
  ('m26', 'srv-b', 'c6', 'CANARY assistant', 'CANARY 333メートルです。', '{"replyTo":"m25","model":"CANARY large","usage":{"prompt":18,"completion":6},"cost":0.1,"rating":5}', '2026-02-10 03:15:02+00'),
  ('m27', 'srv-b', 'c6', 'CANARY tool', 'CANARY {"tool":"lookup","ok":true}', '{"replyTo":"m26","result":{"ok":true,"value":333},"ms":12.5}', '2026-02-10 03:40:00+00'),
  ('m28', 'srv-b', 'c7', 'CANARY user', 'CANARY hello', '{"lang":"CANARY en","tags":["CANARY greeting"]}', '2026-02-11 22:30:00+00'),
  ('m29', 'srv-b', 'c7', 'CANARY assistant', 'CANARY Hello! How can I help?', '{"replyTo":"m28","model":"CANARY small","usage":{"prompt":5,"completion":7},"cost":0.001}', '2026-02-11 22:30:01+00'),
  ('m30', 'srv-b', 'c7', 'CANARY user', 'CANARY HELLO AGAIN', '{"replyTo":"m29","lang":"CANARY EN"}', '2026-02-12 00:05:00+00'),
  ('m31', 'srv-b', 'c9', 'CANARY user', 'CANARY one more', '{"lang":"CANARY en","tags":["CANARY"],"rating":1,"cost":99,"usage":{"prompt":9000,"completion":9000}}', '2026-01-06 00:00:00+00'),
  ('m32', 'srv-b', 'c1', 'CANARY user', 'CANARY in a shared conversation id', '{"replyTo":"m01","rating":5,"cost":77,"usage":{"prompt":7000,"completion":7000}}', '2026-01-05 10:20:00+00'),
  ('m33', 'srv-b', 'c8', 'CANARY user', 'CANARY in the other''s empty conversation', '{}', '2026-02-20 12:00:01+00');

INSERT INTO public.files (id, server_id, end_user_id, conversation_id, name, content_type, size_bytes, storage_key, created_at) VALUES
  ('f1', 'srv-b', 'u1', 'c1', 'CANARY diagram.png', 'CANARY image/png', 204807, 'CANARY k/f1', '2026-01-05 10:14:00+00'),
  ('f2', 'srv-b', 'u1', 'c1', 'CANARY notes.txt', 'CANARY text/plain', 1543, 'CANARY k/f2', '2026-01-05 10:15:00+00'),
  ('f3', 'srv-b', 'u1', 'c2', 'CANARY invoice_2026-01.pdf', 'CANARY application/pdf', 98311, 'CANARY k/f3', '2026-01-12 14:49:30+00'),
  ('f4', 'srv-b', 'u2', 'c4', 'CANARY HELLO.CBL', 'CANARY text/x-cobol', 519, 'CANARY none', '2026-01-07 08:29:00+00'),
  ('f5', 'srv-b', 'u7', 'c7', 'CANARY archive.tar.gz', 'CANARY application/gzip', 9007199254740993, 'CANARY k/f5', '2026-02-11 22:45:00+00'),
  ('f6', 'srv-b', 'u4', 'c9', 'CANARY avatar ü.webp', 'CANARY image/webp', 7, 'CANARY none', '2026-02-10 03:00:00+00'),
  ('f7', 'srv-b', 'u7', 'c9', 'CANARY.bin', 'CANARY/octet-stream', 123456789, 'CANARY k/f7', '2026-01-06 00:00:00+00');
