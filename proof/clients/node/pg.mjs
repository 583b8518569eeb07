// node-postgres, with its cursor, its stream of rows and pg-copy-streams.
import pg from 'pg';
import Cursor from 'pg-cursor';
import QueryStream from 'pg-query-stream';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { assert, check, fails, large, pause, run, sent, slow, url } from './check.mjs';

const client = new pg.Client({ connectionString: url, options: undefined, application_name: 'clients' });
await client.connect();
await client.query("SET TimeZone = 'UTC'");

check('CRUD', async () => {
  let r = await client.query('INSERT INTO conversations (id, title) VALUES ($1, $2), ($3, $4)', ['c1', 'Grüße', 'c2', 'zwei']);
  assert.equal(r.rowCount, 2);
  r = await client.query('INSERT INTO messages (conversation_id, content, metadata) VALUES ($1, $2, $3) RETURNING id, metadata', ['c1', '世界', { k: 1 }]);
  assert.deepEqual(r.rows[0].metadata, { k: 1 });
  r = await client.query('SELECT m.content, c.title FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id WHERE m.id = $1', [r.rows[0].id]);
  assert.deepEqual(r.rows, [{ content: '世界', title: 'Grüße' }]);
  r = await client.query({ text: 'UPDATE conversations SET title = $1 WHERE id = $2 RETURNING title', values: ['neu', 'c2'], rowMode: 'array' });
  assert.deepEqual(r.rows, [['neu']]);
  for (const n of [1, 2]) {
    r = await client.query('INSERT INTO samples (id, i4) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 1 RETURNING i4', [-1]);
    assert.equal(r.rows[0].i4, n);
  }
  assert.equal((await client.query('DELETE FROM conversations')).rowCount, 2);
  assert.equal((await client.query('SELECT count(*)::int4 AS n FROM messages')).rows[0].n, 0);
});

check('several statements in one text', async () => {
  const r = await client.query("SELECT 1 AS a; UPDATE samples SET t = 'x'; SELECT 2 AS b");
  assert.deepEqual(r.map((x) => [x.command, x.rowCount]), [['SELECT', 1], ['UPDATE', 1], ['SELECT', 1]]);
});

check('types', async () => {
  for (const [type, value, text] of sent) {
    const given = type.startsWith('json') ? JSON.stringify(value) : value;
    const r = await client.query(`SELECT $1::${type}::text AS text, $1::${type} AS value, $2::${type} AS none`, [given, null]);
    assert.equal(r.rows[0].text, text, type);
    assert.equal(r.rows[0].none, null, type);
    if (!['date', 'timestamp', 'interval'].includes(type)) {
      assert.deepEqual(r.rows[0].value, value, type);
    }
  }
  const r = await client.query({ text: `SELECT ${sent.map(([type], n) => `$${n + 1}::${type}::text`).join(', ')}`, values: sent.map(([, value]) => value), rowMode: 'array' });
  assert.deepEqual(r.rows[0], sent.map(([, , text]) => text));
});

check('types in columns', async () => {
  const places = sent.map((_, n) => `$${n + 1}`);
  await client.query(`INSERT INTO samples (id, ${sent.map((s) => s[3])}) VALUES (100, ${places})`, sent.map((s) => s[1]));
  for (const [type, value, text, column] of sent) {
    const r = await client.query(`SELECT ${column}::text AS text FROM samples WHERE id = $1 AND ${column}::text = $2`, [100, text]);
    assert.equal(r.rows[0]?.text, text, type);
  }
});

check('transactions and savepoints', async () => {
  for (const end of ['ROLLBACK', 'COMMIT']) {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('INSERT INTO samples (id, code) VALUES ($1, $2)', [10, 'tx']);
    await client.query('SAVEPOINT "Point"');
    const e = await fails(client.query('INSERT INTO samples (id, code) VALUES ($1, $2)', [11, 'tx']), '23505');
    assert.equal(e.constraint, 'samples_code');
    assert.equal(e.table, 'samples');
    await fails(client.query('SELECT 1'), '25P02');
    await client.query('ROLLBACK TO SAVEPOINT "Point"');
    await client.query('INSERT INTO samples (id, code) VALUES ($1, $2)', [11, 'other']);
    await client.query('RELEASE "Point"');
    assert.equal((await client.query(end)).command, end);
    assert.equal((await client.query('SELECT id FROM samples WHERE id IN (10, 11)')).rowCount, end === 'COMMIT' ? 2 : 0);
  }
  await client.query('BEGIN');
  await fails(client.query('SELECT 1 / 0'), '22012');
  assert.equal((await client.query('COMMIT')).command, 'ROLLBACK');
});

check('prepared statements', async () => {
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 60; n++) {
      const r = await client.query({ name: `named ${n}`, text: `SELECT $1::int4 + ${n} AS sum, count(*) FROM samples WHERE id < $2`, values: [round, -1000] });
      assert.equal(r.rows[0].sum, round + n);
    }
  }
});

check('many at once', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 10 === 3 ? fails(client.query('SELECT 1 / $1::int4', [0]), '22012') : client.query('SELECT $1::int4 AS n', [n]))));
  all.forEach((r, n) => n % 10 === 3 || assert.equal(r.rows[0].n, n));
});

check('errors', async () => {
  for (const [text, code] of [['SELECT FROM WHERE', '42601'], ['SELECT nothing FROM samples', '42703'], ["INSERT INTO messages (conversation_id) VALUES ('nobody')", '23503']]) {
    await fails(client.query(text), code);
    await fails(client.query({ text, values: [], queryMode: 'extended' }), code);
    assert.equal((await client.query('SELECT 1 AS one')).rows[0].one, 1);
  }
});

check('cancel', async () => {
  for (const query of [new pg.Query(slow), new pg.Query(slow + ' AND a > $1', [0])]) {
    const ended = new Promise((resolve) => query.on('error', resolve).on('end', () => resolve({})));
    client.query(query);
    await pause(300);
    new pg.Client({ connectionString: url }).cancel(client, query);
    assert.equal((await ended).code, '57014');
    assert.equal((await client.query('SELECT 42 AS n')).rows[0].n, 42);
  }
});

check('large results', async () => {
  await client.query('INSERT INTO accounts (aid, bid) SELECT n, 1 FROM generate_series(1, $1::int4) AS n', [large]);
  const r = await client.query('SELECT aid, bid FROM accounts ORDER BY aid');
  assert.equal(r.rows.length, large);
  assert.deepEqual(r.rows.at(-1), { aid: large, bid: 1 });
});

check('cursor', async () => {
  const cursor = client.query(new Cursor('SELECT aid FROM accounts WHERE aid > $1 ORDER BY aid', [0]));
  const sizes = [];
  for (let rows = await cursor.read(7000); rows.length > 0; rows = await cursor.read(7000)) {
    sizes.push(rows.length);
  }
  assert.deepEqual(sizes, [7000, 7000, 6000]);
  const early = client.query(new Cursor('SELECT aid FROM accounts'));
  assert.equal((await early.read(10)).length, 10);
  await early.close();
  let n = 0;
  for await (const row of client.query(new QueryStream('SELECT aid FROM accounts', [], { batchSize: 500 }))) {
    n += row.aid > 0 ? 1 : 0;
  }
  assert.equal(n, large);
});

check('COPY', async () => {
  let copied = '';
  for await (const chunk of client.query(copyTo('COPY (SELECT aid, bid FROM accounts ORDER BY aid) TO STDOUT'))) {
    copied += chunk;
  }
  assert.equal(copied.split('\n').length, large + 1);
  assert.ok(copied.startsWith('1\t1\n2\t1\n'));
  await client.query('DELETE FROM accounts');
  const into = client.query(copyFrom('COPY accounts (aid, bid) FROM STDIN'));
  await pipeline(Readable.from([copied]), into);
  assert.equal(into.rowCount, large);
  assert.equal((await client.query('SELECT count(*)::int4 AS n FROM accounts WHERE bid = 1')).rows[0].n, large);
  await fails(pipeline(Readable.from(['1\t1\n']), client.query(copyFrom('COPY accounts (aid, bid) FROM STDIN'))), '23505');
});

check('pool', async () => {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => pool.query('SELECT $1::int4 AS n', [n])));
  assert.deepEqual(sums.map((r) => r.rows[0].n), Array.from({ length: 50 }, (_, n) => n));
  await pool.end();
});

await run(() => client.end());
