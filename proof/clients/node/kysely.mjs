// Kysely over node-postgres: what a query builder writes.
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { assert, check, fails, large, run, sent, url } from './check.mjs';

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 4, types: undefined }), cursor: Cursor }) });

check('CRUD', async () => {
  await db.insertInto('conversations').values([{ id: 'c1', title: 'Grüße' }, { id: 'c2', title: 'zwei' }]).execute();
  const made = await db.insertInto('messages').values({ conversation_id: 'c1', content: '世界', metadata: JSON.stringify({ k: 1 }) }).returning(['id', 'metadata']).executeTakeFirstOrThrow();
  assert.deepEqual(made.metadata, { k: 1 });
  const joined = await db.selectFrom('messages as m').innerJoin('conversations as c', 'c.id', 'm.conversation_id').select(['m.content', 'c.title as heading']).where('m.id', '=', made.id).execute();
  assert.deepEqual(joined, [{ content: '世界', heading: 'Grüße' }]);
  const changed = await db.updateTable('conversations').set({ title: 'neu' }).where('id', 'in', ['c2', 'c3']).executeTakeFirst();
  assert.equal(changed.numUpdatedRows, 1n);
  const all = await db.selectFrom('conversations').selectAll().orderBy('id', 'desc').limit(1).offset(0).execute();
  assert.equal(all[0].title, 'neu');
  const counts = await db.selectFrom('conversations as c').leftJoin('messages as m', 'm.conversation_id', 'c.id').select(['c.id', (e) => e.fn.count('m.id').as('n')]).groupBy('c.id').having((e) => e.fn.count('m.id'), '<', 5).orderBy('c.id').execute();
  assert.deepEqual(counts, [{ id: 'c1', n: '1' }, { id: 'c2', n: '0' }]);
  const gone = await db.deleteFrom('conversations').where((e) => e.exists(e.selectFrom('messages').select('id').whereRef('messages.conversation_id', '=', 'conversations.id'))).executeTakeFirst();
  assert.equal(gone.numDeletedRows, 1n);
});

check('upsert', async () => {
  for (const n of [1, 2]) {
    const r = await db.insertInto('samples').values({ id: -1, i4: 1 }).onConflict((c) => c.column('id').doUpdateSet((e) => ({ i4: e('samples.i4', '+', e.ref('excluded.i4')) }))).returning('i4').executeTakeFirstOrThrow();
    assert.equal(r.i4, n);
  }
  await db.insertInto('samples').values({ id: -1, i4: 1 }).onConflict((c) => c.doNothing()).execute();
  const merged = await db.with('raised', (q) => q.updateTable('samples').set((e) => ({ i4: e('i4', '*', 10) })).where('id', '=', -1).returning(['id', 'i4'])).selectFrom('raised').selectAll().execute();
  assert.deepEqual(merged, [{ id: '-1', i4: 20 }]);
});

check('types', async () => {
  const row = Object.fromEntries(sent.map(([type, value, , column]) => [column, type.startsWith('json') ? JSON.stringify(value) : value]));
  await db.insertInto('samples').values({ id: 100, ...row }).execute();
  for (const [type, , text, column] of sent) {
    if (type === 'timestamptz') continue; // its text is that of the session's zone
    const r = await db.selectFrom('samples').select(sql`${sql.ref(column)}::text`.as('text')).where('id', '=', 100).executeTakeFirstOrThrow();
    assert.equal(r.text, text, type);
  }
  const back = await db.selectFrom('samples').select(['tz', 'raw', 'ints', 'texts', 'jb', 'b']).where('id', '=', 100).executeTakeFirstOrThrow();
  assert.deepEqual(back, { tz: new Date('2024-02-29T12:34:56.789Z'), raw: Buffer.from([0, 255, 92, 39]), ints: [1, -2, 3], texts: ['a', '', 'b c', 'q"\\', null], jb: { b: [true, null, 'ü'] }, b: true });
});

check('transactions', async () => {
  const work = (fail) => db.transaction().setIsolationLevel('serializable').execute(async (tx) => {
    await tx.insertInto('samples').values({ id: 10, code: 'tx' }).execute();
    if (fail) await tx.insertInto('samples').values({ id: 11, code: 'tx' }).execute();
  });
  const count = async () => (await db.selectFrom('samples').select('id').where('id', 'in', [10, 11]).execute()).length;
  await fails(work(true), '23505');
  assert.equal(await count(), 0);
  await work(false);
  assert.equal(await count(), 1);
});

check('savepoints', async () => {
  const tx = await db.startTransaction().execute();
  await tx.insertInto('samples').values({ id: 20, code: 'sp' }).execute();
  const sp = await tx.savepoint('before').execute();
  await fails(sp.insertInto('samples').values({ id: 21, code: 'sp' }).execute(), '23505');
  await sp.rollbackToSavepoint('before').execute();
  await sp.insertInto('samples').values({ id: 21, code: 'other' }).execute();
  await sp.releaseSavepoint('before').execute();
  await tx.commit().execute();
  assert.equal((await db.selectFrom('samples').select('id').where('id', 'in', [20, 21]).execute()).length, 2);
});

check('errors', async () => {
  await fails(db.selectFrom('samples').select('nothing').execute(), '42703');
  await fails(sql`SELECT 1 / ${0}::int4`.execute(db), '22012');
  assert.deepEqual((await sql`SELECT ${'one'}::text AS one`.execute(db)).rows, [{ one: 'one' }]);
});

check('large results', async () => {
  await sql`INSERT INTO accounts (aid, bid) SELECT n, 1 FROM generate_series(1, ${large}::int4) AS n`.execute(db);
  assert.equal((await db.selectFrom('accounts').select(['aid', 'bid']).execute()).length, large);
});

check('stream', async () => {
  let n = 0;
  for await (const row of db.selectFrom('accounts').select('aid').orderBy('aid').stream(1000)) {
    assert.equal(row.aid, ++n);
  }
  assert.equal(n, large);
});

await run(() => db.destroy());
