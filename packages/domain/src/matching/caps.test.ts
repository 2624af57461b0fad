import { describe, expect, test } from '@jest/globals';
import { ACME, keyDemand as key } from '../scenes/key-demand.scene.ts';
import { rulesWith } from '../scenes/matching-rules.scene.ts';
import { capsOf } from './caps.ts';

describe('capsOf', () => {
  test('knows no bound for an entity and a pool without a rule, and blocks their keys (C4)', () => {
    const stranger = key(9, { entityId: 9, login: 'stranger', pool: 'gone', scopeRepoId: 21 });
    const caps = capsOf([stranger], [], rulesWith({ cap: 1, pool: { cap: 1, repositoryCap: 1 } }));
    expect(caps.open).toEqual([]);
    expect(caps.blocks.get(9)).toBe('pool_unknown');
    const limits = [caps.entityLimit(9), caps.commonLimit(9), caps.poolLimit('gone')];
    for (const { room } of limits) expect(room).toBe(Infinity);
    expect([caps.room.key(stranger), caps.keyReason(stranger)]).toEqual([Infinity, null]);
    expect(caps.tightestCap(stranger)).toBeNull();
  });

  test('gives each entity its weight, and those that only * admits one together (C4)', () => {
    const entities = new Map([
      ['acme', { cap: null, weight: 3 }],
      ['*', { cap: null, weight: 1 }],
    ]);
    const caps = capsOf(
      [key(1), key(2, { entityId: 2, login: 'x' })],
      [],
      rulesWith({ entities, common: { cap: null, weight: 4 } }),
    );
    expect([caps.weight(ACME), caps.weight(2), caps.common.weight]).toEqual([3, 1, 4]);
    expect([caps.common.has(ACME), caps.common.has(2)]).toEqual([false, true]);
    const closed = capsOf([key(1, { entityId: 2, login: 'x' })], [], rulesWith());
    expect([closed.weight(2), closed.common.weight]).toEqual([1, 1]);
  });

  test('opens only keys that lack something', () => {
    expect(
      capsOf([key(1, { lacking: 0 }), key(2)], [], rulesWith()).open.map(
        ({ demandKey }) => demandKey,
      ),
    ).toEqual([2]);
  });
});
