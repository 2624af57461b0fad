import type { Identity } from '@paddock/api/sessions/sessions';

const MOST_GROUPS = 500;
const LONGEST = 200;

/** Letters of any language, and what stands in addresses; nothing that hides or turns a text. */
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;

/**
 * Somebody of this name, as another system says. Undefined: the name cannot stand in the list of
 * actions. `person` keeps people and tokens apart there.
 */
export function identityOf(name: unknown, groups: readonly unknown[]): Identity | undefined {
  if (typeof name !== 'string' || name.length > LONGEST || !NAME.test(name)) return undefined;
  return {
    person: `person ${name}`,
    groups: groups
      .filter((group) => typeof group === 'string')
      .filter((group) => group.length <= LONGEST)
      .slice(0, MOST_GROUPS),
  };
}
