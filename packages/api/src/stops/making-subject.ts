import type { MakingSubject } from '@paddock/db/matching/stopped-making';
import { isKnownEntity, isKnownPool } from '@paddock/db/people/find-by-name';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { entityIdOf } from '../lists/named.ts';
import { notFound } from '../problem.ts';

/** The input `subject` of who turns the making of workers off or on. */
export const makingSubject = z
  .string()
  .max(300)
  .regex(
    /^(environment|(pool|entity):[^\s:]+)$/,
    'must be environment, pool:NAME, or entity: with a login or an id',
  )
  .describe('`environment`, `pool:NAME`, or `entity:` with a login or an id');

/** The subject that is meant. Rejects with a Problem if no entity has this login. */
export async function readMakingSubject(caller: Caller, text: string): Promise<MakingSubject> {
  const [type, name = ''] = text.split(':');
  if (type === 'environment') return { type };
  if (type === 'pool') return { type, name };
  return { type: 'entity', entityId: (await entityIdOf(caller, name)) ?? 0 };
}

/** As lists of stops name it. */
export function makingSubjectText(subject: MakingSubject): string {
  switch (subject.type) {
    case 'environment':
      return 'environment';
    case 'pool':
      return `pool:${subject.name}`;
    case 'entity':
      return `entity:${subject.entityId}`;
    default:
      return subject satisfies never;
  }
}

/** Rejects with a Problem if there is no such thing: a misspelt name would stop nothing. */
export async function requireKnown({ db }: Caller, subject: MakingSubject): Promise<void> {
  if (subject.type === 'pool' && !(await isKnownPool(db, subject.name)))
    throw notFound(`There is no pool of the name ${subject.name}.`);
  if (subject.type === 'entity' && !(await isKnownEntity(db, subject.entityId)))
    throw notFound(`No App was ever installed on an entity of the id ${subject.entityId}.`);
}
