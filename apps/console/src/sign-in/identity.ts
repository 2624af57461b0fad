import type { Identity, AccessOf } from '@paddock/api/sessions/sessions';
import type { SignInFile } from './sign-in-file.ts';

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

/** Everybody who signs in. */
const EVERYBODY = '*';

/** What people may do, by their groups. */
export const createAccessOf =
  ({ read, operate }: SignInFile['groups']): AccessOf =>
  (groups) => {
    if (groups.some((group) => operate.includes(group))) return 'operate';
    const mayRead = read.includes(EVERYBODY) || groups.some((group) => read.includes(group));
    return mayRead ? 'read' : undefined;
  };
