import { findEntityByLogin, findRepositoryByName } from '@paddock/db/people/find-by-name';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { wrong } from '../problem.ts';

/** A login of digits alone is taken for an id. Longer numbers are not exact in JavaScript. */
const ID = /^[1-9]\d{0,14}$/;

/** The input `entity`: a login, in any case, or GitHub's id. */
export const entity = z.string().min(1).max(300).optional().describe('A login or an id');

/** The input `repository`: OWNER/NAME, in any case, or GitHub's id. */
export const repository = z.string().min(1).max(300).optional().describe('OWNER/NAME or an id');

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
