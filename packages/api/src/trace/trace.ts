import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { findEntityByLogin, ID } from '../lists/named.ts';
import { toPage } from '../lists/page.ts';
import { githubId } from '../lists/whole.ts';
import { notFound, wrong } from '../problem.ts';
import {
  findTracedEntity,
  findTracedInstallation,
  findTracedJob,
  type Traced,
  type TracedJob,
} from './find-traced.ts';
import { readJobTrace, readTrace } from './read-trace.ts';
import { traceAnswer, traceInput } from './trace-page.ts';

export const traceEndpoint = endpoint({
  name: 'trace',
  method: 'GET',
  path: '/api/v1/trace/{of}/{id}',
  summary:
    'Lists what happened to an entity, by its login or id, or to that of an installation or a job, the newest first: deliveries, jobs, workers, operations and actions.',
  access: 'read',
  status: 200,
  input: z.object({
    of: z.enum(['entity', 'installation', 'job']),
    id: z.string().min(1).max(300).describe('An id; of an entity also a login, or a former one'),
    only: z
      .enum(['job'])
      .optional()
      .describe('`job`: only the job and its worker, with every instant of their rows'),
    ...traceInput,
  }),
  output: traceAnswer,
  async answer(caller, input) {
    const { only } = input;
    if (input.of !== 'job' && only !== undefined) throw wrong('`only` is for the trace of a job.');
    const { traced, job } = await find(caller, input);
    const placed =
      job === undefined || only === undefined
        ? await readTrace(caller, traced, input)
        : await readJobTrace(caller, job, input);
    const { items, next } = toPage(placed, input.limit);
    return { items: items.map(({ item }) => item), next, entity: traced.entity };
  },
});

/** Whose trace it is, and the job that was asked for. Rejects with a Problem if no row names it. */
async function find(
  { db }: Caller,
  { of, id: named }: { of: 'entity' | 'installation' | 'job'; id: string },
): Promise<{ traced: Traced; job?: TracedJob }> {
  if (of === 'entity') {
    const id = ID.test(named) ? Number(named) : await findEntityByLogin(db, named);
    const traced = id === undefined ? undefined : await findTracedEntity(db, id);
    if (traced !== undefined) return { traced };
    throw notFound(`No row names the entity ${named}: no App of Paddock was ever seen on it.`);
  }
  const { data: id } = githubId().safeParse(named);
  if (id === undefined)
    throw wrong(`The id of ${of === 'job' ? 'a job' : 'an installation'} is a number.`);
  if (of === 'installation') {
    const traced = await findTracedInstallation(db, id);
    if (traced !== undefined) return { traced };
    throw notFound('No row names this installation: no delivery of it ever arrived.');
  }
  const job = await findTracedJob(db, id);
  if (job === undefined)
    throw notFound(
      'No row names this job: no delivery about it arrived, or it ended so long ago that its rows were deleted.',
    );
  const traced = job.entityId === null ? undefined : await findTracedEntity(db, job.entityId);
  return { traced: traced ?? { entity: null, places: [] }, job };
}
