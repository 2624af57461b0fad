/** An account by what names it: its id outlives renames, its login may pass to another account. */
export interface NamedAccount {
  readonly id: number;
  readonly login: string;
}

/** The cap of an account whose entry names none. */
export const USUAL_MAX_WORKERS = 20;

/** Whether a key of `entities` is meant to be an account's id and is not: no login has a colon. */
export const isWrongId = (key: string): boolean => /^\s*id\s*:/i.test(key) && !/^id:[1-9]\d{0,15}$/.test(key);

/**
 * The keys of `entities` that can speak for an account, the first that is listed does: its own id, its login in lower case, '*' for
 * everybody else.
 */
const entityKeysOf = ({ id, login }: NamedAccount): readonly string[] => [`id:${id}`, login.toLowerCase(), '*'];

/** Under which of some keys, in lower case, an account is listed; undefined: under none. */
const keyAmong = (entities: { has(key: string): boolean }, account: NamedAccount): string | undefined =>
  entityKeysOf(account).find((key) => entities.has(key));

/** The login, in lower case, by which these entries admit an account; undefined if they do not, or by its id or by '*'. */
export function loginAmong(entities: { has(key: string): boolean }, account: NamedAccount): string | undefined {
  const key = keyAmong(entities, account);
  return key === account.login.toLowerCase() ? key : undefined;
}

/** Whether only '*' admits an account. */
export const isUnlisted = (entities: { has(key: string): boolean }, account: NamedAccount): boolean => keyAmong(entities, account) === '*';

/** The rule for an account in entries by lower-cased key; undefined: it may not use Paddock. */
export function ruleAmong<Rule>(entities: ReadonlyMap<string, Rule>, account: NamedAccount): Rule | undefined {
  const key = keyAmong(entities, account);
  return key === undefined ? undefined : entities.get(key);
}
