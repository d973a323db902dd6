// What a receiver holds that believes its webhooks alone.
import assert from 'node:assert/strict';

/**
 * From the deliveries of one stream, in the order of their numbers: bodies by block hash, the hashes that are confirmed, and
 * those that were taken back. A number that came again counts once. Throws where a delivery contradicts an earlier one.
 */
export function ledgerOf(deliveries) {
  const held = new Map(), confirmed = new Set(), retracted = new Set(), numbers = new Map();
  const ordered = [...new Map(deliveries.map((one) => [one.headers['x-sequence'], one])).values()].toSorted((a, b) => a.headers['x-sequence'] - b.headers['x-sequence']);
  const digests = new Set(deliveries.map(({ headers }) => headers['x-digest']));
  assert.equal(digests.size, ordered.length, 'what came again is what came before');
  for (const { headers, body } of ordered) {
    const { hash } = body.block, before = held.get(hash);
    if (body.retracted) {
      assert.ok(before && !confirmed.has(hash), `${hash} is retracted: it was told, and not confirmed`);
      assert.deepEqual(body, { ...before, retracted: true });
      assert.equal(headers['x-amends'], numbers.get(hash));
      held.delete(hash);
      retracted.add(hash);
    } else if (body.confirmed) {
      assert.ok(!confirmed.has(hash), `${hash} is confirmed once`);
      if (before) assert.deepEqual(body, { ...before, confirmed: true });
      confirmed.add(hash);
      held.set(hash, body);
    } else {
      assert.ok(!before, `${hash} is told once`);
      held.set(hash, body);
      numbers.set(hash, headers['x-sequence']);
    }
  }
  assert.deepEqual(ordered.map(({ headers }) => Number(headers['x-sequence'])), ordered.map((_, at) => at + 1), 'numbers without a hole');
  return { held, confirmed, retracted };
}
