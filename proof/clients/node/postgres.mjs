// postgres.js, which prepares every statement and sends many before it reads.
import postgres from 'postgres';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { assert, check, fails, large, pause, run, sent, slow, url } from './check.mjs';

const sql = postgres(url, { max: 3, onnotice: () => {}, connection: { TimeZone: 'UTC' } });

check('CRUD', async () => {
  let r = await sql`INSERT INTO conversations ${sql([{ id: 'c1', title: 'Grüße' }, { id: 'c2', title: 'zwei' }], 'id', 'title')}`;
  assert.equal(r.count, 2);
  r = await sql`INSERT INTO messages ${sql({ conversation_id: 'c1', content: '世界', metadata: { k: 1 } })} RETURNING id, metadata`;
  assert.deepEqual(r[0].metadata, { k: 1 });
  r = await sql`SELECT m.content, c.title FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id WHERE m.id = ${r[0].id}`;
  assert.deepEqual([...r], [{ content: '世界', title: 'Grüße' }]);
  r = await sql`UPDATE conversations SET ${sql({ title: 'neu' }, 'title')} WHERE id IN ${sql(['c2', 'c3'])} RETURNING title`;
  assert.deepEqual([...r], [{ title: 'neu' }]);
  for (const n of [1, 2]) {
    r = await sql`INSERT INTO samples (id, i4) VALUES (${-1}, 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 1 RETURNING i4`;
    assert.equal(r[0].i4, n);
  }
  assert.equal((await sql`DELETE FROM conversations`).count, 2);
  assert.equal((await sql`SELECT count(*)::int4 AS n FROM messages`)[0].n, 0);
});

check('several statements in one text', async () => {
  const r = await sql`SELECT 1 AS a; SELECT 2 AS b`.simple();
  assert.deepEqual(r.map((x) => [...x]), [[{ a: 1 }], [{ b: 2 }]]);
});

// What postgres.js turns into text itself, by the type that the server tells, it is given as such.
const given = ([type, value]) => (type === 'date' || type === 'timestamp' ? new Date(value + (type === 'date' ? 'T00:00:00Z' : 'Z')) : value);
const text = ([type, , text]) => (type === 'timestamp' ? '1969-12-31 23:59:59.123' : text);

check('types', async () => {
  for (const s of sent) {
    const [type] = s;
    const r = await sql.unsafe(`SELECT $1::${type}::text AS text, $1::${type} AS value, $2::${type} AS none`, [given(s), null]);
    assert.equal(r[0].text, text(s), type);
    assert.equal(r[0].none, null, type);
  }
  const r = await sql.unsafe(`SELECT ${sent.map(([type], n) => `$${n + 1}::${type}::text`).join(', ')}`, sent.map(given)).values();
  assert.deepEqual([...r[0]], sent.map(text));
});

check('types in columns', async () => {
  const row = Object.fromEntries(sent.map((s) => [s[3], given(s)]));
  await sql`INSERT INTO samples ${sql({ id: 100, ...row })}`;
  for (const s of sent) {
    const r = await sql`SELECT ${sql(s[3])}::text AS text FROM samples WHERE id = ${100}`;
    assert.equal(r[0].text, text(s), s[0]);
  }
});

check('transactions and savepoints', async () => {
  for (const end of ['rollback', 'commit']) {
    const done = sql.begin('isolation level repeatable read', async (tx) => {
      await tx`INSERT INTO samples (id, code) VALUES (${10}, 'tx')`;
      await fails(tx.savepoint((sp) => sp`INSERT INTO samples (id, code) VALUES (${11}, 'tx')`), '23505');
      await tx.savepoint('named', (sp) => sp`INSERT INTO samples (id, code) VALUES (${11}, 'other')`);
      if (end === 'rollback') {
        throw Object.assign(new Error('given up'), { code: 'mine' });
      }
    });
    await (end === 'rollback' ? fails(done, 'mine') : done);
    assert.equal((await sql`SELECT id FROM samples WHERE id IN (10, 11)`).count, end === 'commit' ? 2 : 0);
  }
  await fails(sql.begin((tx) => tx`SELECT 1 / ${0}::int4`), '22012');
  assert.equal((await sql`SELECT 1 AS one`)[0].one, 1);
});

check('prepared statements', async () => {
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 60; n++) {
      const r = await sql.unsafe(`SELECT $1::int4 + ${n} AS sum, count(*) FROM samples WHERE id < $2`, [round, -1000], { prepare: true });
      assert.equal(r[0].sum, round + n);
    }
  }
});

check('pipelining', async () => {
  const all = await Promise.all(Array.from({ length: 200 }, (_, n) => (n % 10 === 3 ? fails(sql`SELECT 1 / ${0}::int4`, '22012') : sql`SELECT ${n}::int4 AS n`)));
  all.forEach((r, n) => n % 10 === 3 || assert.equal(r[0].n, n));
});

check('errors', async () => {
  for (const [text, code] of [['SELECT FROM WHERE', '42601'], ['SELECT nothing FROM samples', '42703'], ["INSERT INTO messages (conversation_id) VALUES ('nobody')", '23503']]) {
    await fails(sql.unsafe(text), code);
    await fails(sql.unsafe(text, [], { prepare: true }), code);
    assert.equal((await sql`SELECT 1 AS one`)[0].one, 1);
  }
});

check('describe', async () => {
  const d = await sql`SELECT id, t FROM samples WHERE i4 = ${0}`.describe();
  assert.deepEqual(d.types, [23]);
  assert.deepEqual(d.columns.map((c) => [c.name, c.type]), [['id', 20], ['t', 25]]);
});

check('cancel', async () => {
  const query = sql.unsafe(slow);
  const ended = fails(query, '57014');
  await pause(300);
  query.cancel();
  await ended;
  const all = await Promise.all(Array.from({ length: 10 }, (_, n) => sql`SELECT ${n}::int4 AS n`));
  assert.equal(all[9][0].n, 9);
});

check('large results', async () => {
  await sql`INSERT INTO accounts (aid, bid) SELECT n, 1 FROM generate_series(1, ${large}::int4) AS n`;
  const r = await sql`SELECT aid, bid FROM accounts ORDER BY aid`;
  assert.equal(r.length, large);
  assert.deepEqual(r.at(-1), { aid: large, bid: 1 });
});

check('cursor', async () => {
  const sizes = [];
  await sql`SELECT aid FROM accounts ORDER BY aid`.cursor(7000, (rows) => {
    sizes.push(rows.length);
  });
  assert.deepEqual(sizes, [7000, 7000, 6000]);
  for await (const rows of sql`SELECT aid FROM accounts ORDER BY aid`.cursor(10)) {
    assert.equal(rows[9].aid, 10);
    break;
  }
  assert.equal((await sql`SELECT 1 AS one`)[0].one, 1);
});

// Few rows out: where its stream is full when the last of them comes, postgres.js 3.4 pauses its
// socket and never reads on, whatever it is connected to.
check('COPY', async () => {
  let copied = '';
  for await (const chunk of await sql`COPY (SELECT aid, bid FROM accounts WHERE aid <= 1000 ORDER BY aid) TO STDOUT`.readable()) {
    copied += chunk;
  }
  assert.equal(copied.split('\n').length, 1001);
  await sql`DELETE FROM accounts`;
  const rows = Array.from({ length: large }, (_, n) => `${n + 1}\t1\n`);
  await pipeline(Readable.from(rows), await sql`COPY accounts (aid, bid) FROM STDIN`.writable());
  assert.equal((await sql`SELECT count(*)::int4 AS n FROM accounts WHERE bid = 1`)[0].n, large);
});

await run(() => sql.end({ timeout: 5 }));
