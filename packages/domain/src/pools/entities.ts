export interface NamedEntity {
  readonly id: number;
  readonly login: string;
}

/** The cap of an entity whose entry has none. */
export const USUAL_MAX_WORKERS = 20;

/** Whether a key of `entities` looks like an id and is none: no login has a colon. */
export const isWrongId = (key: string): boolean =>
  /^\s*id\s*:/i.test(key) && !/^id:[1-9]\d{0,15}$/.test(key);

/**
 * The keys of `entities` for an entity: its id, its login in lower case, '*' for all others. The
 * first that is listed counts.
 */
const entityKeysOf = ({ id, login }: NamedEntity): readonly string[] => [
  `id:${id}`,
  login.toLowerCase(),
  '*',
];

/** The key, in lower case, under which an entity is listed; undefined: none. */
const entityKeyAmong = (
  entities: { has(key: string): boolean },
  entity: NamedEntity,
): string | undefined => entityKeysOf(entity).find((key) => entities.has(key));

/** The login, in lower case, by which these entries admit an entity, if by its login. */
export function loginAmong(
  entities: { has(key: string): boolean },
  entity: NamedEntity,
): string | undefined {
  const key = entityKeyAmong(entities, entity);
  return key === entity.login.toLowerCase() ? key : undefined;
}

/** Whether only '*' admits an entity. */
export const isUnlisted = (entities: { has(key: string): boolean }, entity: NamedEntity): boolean =>
  entityKeyAmong(entities, entity) === '*';

/** An entity's rule, from entries with lower-case keys; undefined: it may not use Paddock. */
export function ruleAmong<Rule>(
  entities: ReadonlyMap<string, Rule>,
  entity: NamedEntity,
): Rule | undefined {
  const key = entityKeyAmong(entities, entity);
  return key === undefined ? undefined : entities.get(key);
}
