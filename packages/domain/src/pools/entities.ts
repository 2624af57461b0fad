/** An entity by what names it: its id outlives renames, its login may pass to another entity. */
export interface NamedEntity {
  readonly id: number;
  readonly login: string;
}

/** The cap of an entity whose entry names none. */
export const USUAL_MAX_WORKERS = 20;

/** Whether a key of `entities` is meant to be an entity's id and is not: no login has a colon. */
export const isWrongId = (key: string): boolean => /^\s*id\s*:/i.test(key) && !/^id:[1-9]\d{0,15}$/.test(key);

/**
 * The keys of `entities` that can speak for an entity, the first that is listed does: its own id, its login in lower case, '*' for
 * everybody else.
 */
const entityKeysOf = ({ id, login }: NamedEntity): readonly string[] => [`id:${id}`, login.toLowerCase(), '*'];

/** Under which of some keys, in lower case, an entity is listed; undefined: under none. */
const keyAmong = (entities: { has(key: string): boolean }, entity: NamedEntity): string | undefined =>
  entityKeysOf(entity).find((key) => entities.has(key));

/** The login, in lower case, by which these entries admit an entity; undefined if they do not, or by its id or by '*'. */
export function loginAmong(entities: { has(key: string): boolean }, entity: NamedEntity): string | undefined {
  const key = keyAmong(entities, entity);
  return key === entity.login.toLowerCase() ? key : undefined;
}

/** Whether only '*' admits an entity. */
export const isUnlisted = (entities: { has(key: string): boolean }, entity: NamedEntity): boolean => keyAmong(entities, entity) === '*';

/** The rule for an entity in entries by lower-cased key; undefined: it may not use Paddock. */
export function ruleAmong<Rule>(entities: ReadonlyMap<string, Rule>, entity: NamedEntity): Rule | undefined {
  const key = keyAmong(entities, entity);
  return key === undefined ? undefined : entities.get(key);
}
