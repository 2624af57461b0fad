import { z } from 'zod';
import type { NamedEntity } from './entities.ts';
import { matchesGlob } from '../text/matches-glob.ts';

const ENTITY = /^(?:id:[1-9][0-9]{0,15}|[A-Za-z0-9*][A-Za-z0-9_*-]{0,99})$/;
const REPOSITORY = /^[A-Za-z0-9*][A-Za-z0-9_*-]{0,99}\/[A-Za-z0-9._*-]{1,100}$/;

export const entitiesGate = z
  .array(z.string().regex(ENTITY, 'must be a login, in which * stands for any characters, or id: and the number of an entity'))
  .min(1, 'serves nobody: name entities, or leave it out');

export const repositoriesGate = z
  .array(z.string().regex(REPOSITORY, 'must be owner/name; * stands for any characters of either'))
  .min(1, 'serves nothing: name repositories, or leave it out');

/** Whose jobs a pool serves, among those that the file's `entities` admit; what is absent bounds nothing. */
export interface Gate {
  readonly entities?: readonly string[] | undefined;
  readonly repositories?: readonly string[] | undefined;
}

export const servesEntity = ({ entities }: Gate, { id, login }: NamedEntity): boolean =>
  entities === undefined || entities.some((one) => one === `id:${id}` || matchesGlob(one, login));

/** `fullName` is owner/name as the repository is called when its job is judged: a name that changes hands takes its access along. */
export const servesRepository = ({ repositories }: Gate, fullName: string): boolean =>
  repositories === undefined || repositories.some((one) => matchesGlob(one, fullName));

/** Whether a pool with this gate serves jobs of the repository. */
export const serves = (gate: Gate, job: { readonly entity: NamedEntity; readonly repoFullName: string }): boolean =>
  servesEntity(gate, job.entity) && servesRepository(gate, job.repoFullName);

/** Whether a pool names its entities one by one. A pattern with * names nobody: anyone can register a login that fits. */
export const namesEntities = ({ entities, repositories }: Gate): boolean =>
  (entities?.every((one) => !one.includes('*')) ?? false) ||
  (repositories?.every((one) => !one.split('/', 1).join().includes('*')) ?? false);

/** Whether two pools can serve the same job: no where what both name has nothing in common. */
export const overlap = (one: Gate, other: Gate): boolean =>
  (['entities', 'repositories'] as const).every((key) => {
    const [mine, theirs] = [one[key], other[key]];
    if (mine === undefined || theirs === undefined) return true;
    return mine.some((a) => theirs.some((b) => matchesGlob(a, b) || matchesGlob(b, a)));
  });

/** The login, in lower case, by which alone a gate lets an entity through: it names the login, and not the entity's id. */
export function loginThrough({ entities = [], repositories = [] }: Gate, { id, login }: NamedEntity): string | undefined {
  const wanted = login.toLowerCase();
  const named = [...entities, ...repositories.map((one) => one.split('/', 1).join())];
  return entities.includes(`id:${id}`) || !named.some((one) => one.toLowerCase() === wanted) ? undefined : wanted;
}

/**
 * Whether a pool with this gate has workers for an entity, whose login is pinned to the entity `owner` (undefined: to none). A gate that
 * names the login means its owner.
 */
export const servesBearer = (gate: Gate, entity: NamedEntity, owner: number | undefined): boolean =>
  servesEntity(gate, entity) && ((owner ?? entity.id) === entity.id || loginThrough(gate, entity) === undefined);
