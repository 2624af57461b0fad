import { describe, expect, test } from '@jest/globals';
import { linux, storedRules } from '../scenes/snapshot.scene.ts';
import { settingOf, withLimit } from './raise-cap.ts';
import type { CapFacts } from './wait-facts.ts';

const place = { entityId: 9, login: 'acme', pool: 'linux' };
const big = { ...linux({ cap: 8 }), name: 'big' };
const everybody = { maxWorkers: 2, commonMaxWorkers: 3, commonWeight: 4 };
const entities = { '*': everybody, ACME: { maxWorkers: 5, weight: 6 }, lab: { maxWorkers: 7 } };
const rules = storedRules({ pools: [linux({ cap: 1 }), big], entities });

const raised = (kind: CapFacts['kind'], at = place) => withLimit(rules, kind, at, 50);

describe('another limit changes one cap alone (P5)', () => {
  test('of the entity, under its login however it is written', () => {
    expect(raised('at_entity_cap')).toEqual({
      ...rules,
      entities: { ...entities, ACME: { maxWorkers: 50, weight: 6 } },
    });
  });

  test('of the entity, under its id before its login', () => {
    const byId = { ...entities, 'id:9': { weight: 2 } };
    expect(withLimit({ ...rules, entities: byId }, 'at_entity_cap', place, 50)).toEqual({
      ...rules,
      entities: { ...byId, 'id:9': { maxWorkers: 50, weight: 2 } },
    });
  });

  test('of each entity that only * admits', () => {
    expect(raised('at_entity_cap', { ...place, login: 'sam' })).toEqual({
      ...rules,
      entities: { ...entities, '*': { ...everybody, maxWorkers: 50 } },
    });
  });

  test('of an entity that nothing admits, by an entry of its own', () => {
    const { lab } = entities;
    expect(withLimit({ ...rules, entities: { lab } }, 'at_entity_cap', place, 50)).toEqual({
      ...rules,
      entities: { lab, acme: { maxWorkers: 50 } },
    });
  });

  test('of all entities that only * admits', () => {
    expect(raised('at_common_cap')).toEqual({
      ...rules,
      entities: { ...entities, '*': { ...everybody, commonMaxWorkers: 50 } },
    });
  });

  test('of the job’s pool', () => {
    expect(raised('at_pool_cap')).toEqual({ ...rules, pools: [linux({ cap: 50 }), big] });
  });

  test('of each repository in the job’s pool', () => {
    expect(raised('at_repository_cap')).toEqual({
      ...rules,
      pools: [{ ...linux({ cap: 1 }), repositoryCap: 50 }, big],
    });
  });
});

test.each<[CapFacts['kind'], string, string]>([
  ['at_entity_cap', 'acme', 'the cap’s name'],
  ['at_entity_cap', 'sam', "maxWorkers of '*'"],
  ['at_pool_cap', 'sam', 'the cap’s name'],
])('the setting of %s for %s is %s (P5)', (kind, login, setting) => {
  const cap = { kind, name: 'the cap’s name', used: 2, limit: 2 };
  expect(settingOf(rules, cap, { ...place, login })).toBe(setting);
});
