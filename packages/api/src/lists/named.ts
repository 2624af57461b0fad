import {
  findEntityByLogin,
  findRepositoryByName,
  isNamedPool,
} from '@paddock/db/people/find-by-name';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { closestName } from '@paddock/runtime/closest-name';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { wrong } from '../problem.ts';

/** A login of digits alone is taken for an id. Longer numbers are not exact in JavaScript. */
const ID = /^[1-9]\d{0,14}$/;

/** The input `entity`: a login, in any case, or GitHub's id. */
export const entity = z.string().min(1).max(300).optional().describe('A login or an id');

/** The input `repository`: OWNER/NAME, in any case, or GitHub's id. */
export const repository = z.string().min(1).max(300).optional().describe('OWNER/NAME or an id');

/** The input `pool`: also one that is no longer in force. */
export const pool = z.string().min(1).max(100).optional();

/**
 * Resolves with a list of the `pool` that was asked for. Rejects with a Problem if the list is
 * empty because nothing has this name: a misspelt one would look like a pool without work.
 */
export async function ofKnownPool<T>(
  { db }: Caller,
  name: string | undefined,
  list: Promise<readonly T[]>,
): Promise<readonly T[]> {
  const items = await list;
  if (items.length > 0 || name === undefined || name === NO_POOL) return items;
  const { isNamed, inForce } = await isNamedPool(db, name);
  if (isNamed) return items;
  const meant = closestName(name, inForce);
  throw wrong(
    `No pool has the name ${name}, and neither job nor worker names it${meant === undefined ? '.' : `; did you mean ${meant}?`}`,
  );
}

/** The id of the `entity` that was asked for. Rejects with a Problem if none has this login. */
export const entityIdOf = ({ db }: Caller, given: string | undefined) =>
  idOf(given, (login) => findEntityByLogin(db, login), 'entity has this login');

/** The id of the `repository`. Rejects with a Problem if none has this name. */
export const repoIdOf = ({ db }: Caller, given: string | undefined) =>
  idOf(given, (fullName) => findRepositoryByName(db, fullName), 'repository has this name');

async function idOf(
  given: string | undefined,
  find: (name: string) => Promise<number | undefined>,
  has: string,
): Promise<number | undefined> {
  if (given === undefined) return undefined;
  if (ID.test(given)) return Number(given);
  const found = await find(given);
  if (found === undefined)
    throw wrong(`No known ${has}: ${given}. Give its id, if it has been renamed or removed.`);
  return found;
}
