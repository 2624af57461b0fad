/** An account by what names it: its id outlives renames, its login may pass to another account. */
export interface NamedAccount {
  readonly id: number;
  readonly login: string;
}

/** Whether a key of `entities` is meant to be an account's id and is not: no login has a colon. */
export const isWrongId = (key: string): boolean => /^\s*id\s*:/i.test(key) && !/^id:[1-9]\d{0,15}$/.test(key);

/**
 * The keys of `entities` that can speak for an account, the first that is listed does: its own id, its login in lower case, '*' for
 * everybody else.
 */
export const entityKeysOf = ({ id, login }: NamedAccount): readonly string[] => [`id:${id}`, login.toLowerCase(), '*'];

/** The rule for an account in entries by lower-cased key; undefined: it may not use Paddock. */
export function ruleAmong<Rule>(entities: ReadonlyMap<string, Rule>, account: NamedAccount): Rule | undefined {
  const key = entityKeysOf(account).find((candidate) => entities.has(candidate));
  return key === undefined ? undefined : entities.get(key);
}
