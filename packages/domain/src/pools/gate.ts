import { z } from 'zod';
import type { NamedEntity } from './entities.ts';

const ENTITY = /^(?:id:[1-9][0-9]{0,15}|[A-Za-z0-9*][A-Za-z0-9_*-]{0,99})$/;
const REPOSITORY = /^[A-Za-z0-9*][A-Za-z0-9_*-]{0,99}\/[A-Za-z0-9._*-]{1,100}$/;

export const entitiesGate = z
  .array(
    z
      .string()
      .regex(
        ENTITY,
        'must be a login, in which * means any characters, or id: and the number of an entity',
      ),
  )
  .min(1, 'serves no entity: name entities, or leave it out');

export const repositoriesGate = z
  .array(z.string().regex(REPOSITORY, 'must be owner/name; * means any characters of either'))
  .min(1, 'serves nothing: name repositories, or leave it out');

/** Whose jobs a pool serves among those that `entities` admit. An absent list allows all. */
export interface Gate {
  readonly entities?: readonly string[] | undefined;
  readonly repositories?: readonly string[] | undefined;
}

export const servesEntity = ({ entities }: Gate, { id, login }: NamedEntity): boolean =>
  entities === undefined || entities.some((one) => one === `id:${id}` || matchesGlob(one, login));

/** `fullName`: the repository's current owner/name. The new owner of a name gets its access. */
export const servesRepository = ({ repositories }: Gate, fullName: string): boolean =>
  repositories === undefined || repositories.some((one) => matchesGlob(one, fullName));

export const serves = (
  gate: Gate,
  job: { readonly entity: NamedEntity; readonly repoFullName: string },
): boolean => servesEntity(gate, job.entity) && servesRepository(gate, job.repoFullName);

/** A pattern with * admits nobody by name, because anyone can register a login that matches. */
export const namesEntities = ({ entities, repositories }: Gate): boolean =>
  (entities?.every((one) => !one.includes('*')) ?? false) ||
  (repositories?.every((one) => !one.split('/', 1).join().includes('*')) ?? false);

/** The login, in lower case, if a gate admits an entity by its login and not by its id. */
export function loginThrough(
  { entities = [], repositories = [] }: Gate,
  { id, login }: NamedEntity,
): string | undefined {
  const wanted = login.toLowerCase();
  const named = [...entities, ...repositories.map((one) => one.split('/', 1).join())];
  return entities.includes(`id:${id}`) || !named.some((one) => one.toLowerCase() === wanted)
    ? undefined
    : wanted;
}

/**
 * Whether a gate admits an entity whose login is pinned to the entity `owner` (undefined: not
 * pinned). A gate that names the login means its owner.
 */
export const servesWithPin = (
  gate: Gate,
  entity: NamedEntity,
  owner: number | undefined,
): boolean =>
  servesEntity(gate, entity) &&
  ((owner ?? entity.id) === entity.id || loginThrough(gate, entity) === undefined);

/**
 * Whether a text matches a pattern, without regard to case. `*` matches any number of characters
 * other than `/`. Never backtracks, so no pattern takes long.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [patterns, texts] = [pattern.toLowerCase().split('/'), text.toLowerCase().split('/')];
  return (
    patterns.length === texts.length &&
    patterns.every((part, index) => matchesPart(part, texts[index] ?? ''))
  );
}

/** The outer pieces must be at the ends, the others in order, each as early as possible. */
function matchesPart(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, from);
    if (found === -1 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
