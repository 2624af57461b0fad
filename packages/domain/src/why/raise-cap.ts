import type { StoredRules } from '../matching/stored-rules.ts';
import { ruleAmong } from '../pools/entities.ts';
import type { CapFacts, JobFacts } from './wait-facts.ts';

type Place = Pick<JobFacts, 'entityId' | 'login' | 'pool'>;

/** The rules with another limit in a cap that binds a job's workers. */
export function withLimit(
  rules: StoredRules,
  kind: CapFacts['kind'],
  place: Place,
  limit: number,
): StoredRules {
  const { entities, pools } = rules;
  switch (kind) {
    case 'at_entity_cap': {
      const entry = entryOf(rules, place);
      return {
        ...rules,
        entities: { ...entities, [entry]: { ...entities[entry], maxWorkers: limit } },
      };
    }
    case 'at_common_cap':
      return {
        ...rules,
        entities: { ...entities, '*': { ...entities['*'], commonMaxWorkers: limit } },
      };
    case 'at_pool_cap':
    case 'at_repository_cap': {
      const cap = kind === 'at_pool_cap' ? { cap: limit } : { repositoryCap: limit };
      return {
        ...rules,
        pools: pools.map((pool) => Object.assign({}, pool, pool.name === place.pool ? cap : {})),
      };
    }
    default:
      return kind satisfies never;
  }
}

/** What a person changes in the configuration to raise a cap. */
export function settingOf(rules: StoredRules, { kind, name }: CapFacts, place: Place): string {
  return kind === 'at_entity_cap' && entryOf(rules, place) === '*' ? "maxWorkers of '*'" : name;
}

/** The key of `entities`, as it is written, that admits the entity. */
function entryOf({ entities }: StoredRules, { entityId: id, login }: Place): string {
  const written = new Map(Object.keys(entities).map((key) => [key.toLowerCase(), key]));
  return ruleAmong(written, { id, login }) ?? login;
}
