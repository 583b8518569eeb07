// What the scripts share: a list of checks, run in order, each told in a line of JSON.
import assert from 'node:assert/strict';

export const url = process.env.DATABASE_URL;

// The slow statement runs for far longer than anybody waits, and is nothing that a policy refuses.
export const slow = 'SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a + b < 0';

export const large = 20000;

const checks = [];

export function check(name, run) {
  checks.push({ name, run });
}

// run gives each check its time and then ends the process.
export async function run(close) {
  let failed = 0;
  for (const { name, run } of checks) {
    let error = '';
    try {
      await within(60000, run());
    } catch (e) {
      error = String(e?.stack ?? e);
      failed++;
    }
    console.log(JSON.stringify({ name, error }));
  }
  await within(10000, close());
  process.exit(failed === 0 ? 0 : 1);
}

// within fails where a promise takes too long.
function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// fails expects an error of a SQLSTATE.
export async function fails(promise, code) {
  try {
    await promise;
  } catch (e) {
    assert.equal(e.code, code, `${e.code}: ${e.message}`);
    return e;
  }
  assert.fail(`no error where ${code} was expected`);
}

// sent are parameters of each common type: the type, a value, the text that Postgres has for
// it, and the column of table samples.
export const sent = [
  ['int2', -32768, '-32768', 'i2'],
  ['int4', 2147483647, '2147483647', 'i4'],
  ['int8', '-9223372036854775808', '-9223372036854775808', 'i8'],
  ['numeric', '-12345678901234567890.1234567890', '-12345678901234567890.1234567890', 'num'],
  ['float4', 1.5, '1.5', 'f4'],
  ['float8', 1e-300, '1e-300', 'f8'],
  ['bool', true, 'true', 'b'],
  ['text', 'ü ∑ 🐘 \'quoted\' \\ "\n\t', 'ü ∑ 🐘 \'quoted\' \\ "\n\t', 't'],
  ['varchar', '', '', 'vc'],
  ['bytea', Buffer.from([0, 255, 92, 39]), '\\x00ff5c27', 'raw'],
  ['date', '2024-02-29', '2024-02-29', 'd'],
  ['time', '23:59:59.999999', '23:59:59.999999', 'tm'],
  ['timestamp', '1969-12-31 23:59:59.123456', '1969-12-31 23:59:59.123456', 'ts'],
  ['timestamptz', new Date('2024-02-29T12:34:56.789Z'), '2024-02-29 12:34:56.789+00', 'tz'],
  ['interval', '1 year 2 mons -3 days', '1 year 2 mons -3 days', 'iv'],
  ['uuid', '6f9619ff-8b86-d011-b42d-00c04fc964ff', '6f9619ff-8b86-d011-b42d-00c04fc964ff', 'u'],
  ['json', { a: 1 }, '{"a":1}', 'j'],
  ['jsonb', { b: [true, null, 'ü'] }, '{"b": [true, null, "ü"]}', 'jb'],
  ['int4[]', [1, -2, 3], '{1,-2,3}', 'ints'],
  ['text[]', ['a', '', 'b c', 'q"\\', null], '{a,"","b c","q\\"\\\\",NULL}', 'texts'],
];

export { assert };
