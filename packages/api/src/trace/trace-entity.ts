import {
  findTracedEntity,
  findTracedInstallation,
  type Traced,
} from '@paddock/db/people/find-traced';
import { findEntityByLogin } from '@paddock/db/people/find-by-name';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { toPage } from '../lists/page.ts';
import { notFound } from '../problem.ts';
import { readTrace } from './read-trace.ts';
import { type Placed, traceAnswer, traceInput, type TraceInput } from './trace-page.ts';
import { githubId } from '../lists/whole.ts';

const ID = /^[1-9]\d{0,14}$/;

export const traceEntityEndpoint = endpoint({
  name: 'traceEntity',
  method: 'GET',
  path: '/api/v1/trace/entity/{entity}',
  summary:
    'Lists what happened to an entity, the newest first: deliveries, jobs, workers, operations and actions.',
  access: 'read',
  status: 200,
  input: z.object({
    entity: z.string().min(1).max(300).describe('A login, also a former one, or an id'),
    ...traceInput,
  }),
  output: traceAnswer,
  async answer(caller, input) {
    const { entity: named } = input;
    const id = ID.test(named) ? Number(named) : await findEntityByLogin(caller.db, named);
    const traced = id === undefined ? undefined : await findTracedEntity(caller.db, id);
    if (traced === undefined)
      throw notFound(`No row names the entity ${named}: no App of Paddock was ever seen on it.`);
    return answerTrace(traced, await readTrace(caller, traced, input), input);
  },
});

export const traceInstallationEndpoint = endpoint({
  name: 'traceInstallation',
  method: 'GET',
  path: '/api/v1/trace/installation/{installation}',
  summary: 'Lists what happened to the entity of an installation, also of a former one.',
  access: 'read',
  status: 200,
  input: z.object({ installation: githubId(), ...traceInput }),
  output: traceAnswer,
  async answer(caller, input) {
    const traced = await findTracedInstallation(caller.db, input.installation);
    if (traced === undefined)
      throw notFound('No row names this installation: no delivery of it ever arrived.');
    return answerTrace(traced, await readTrace(caller, traced, input), input);
  },
});

export const answerTrace = (
  { entity }: Pick<Traced, 'entity'>,
  placed: readonly Placed[],
  { limit }: TraceInput,
): z.input<typeof traceAnswer> => ({
  ...toPage(
    placed,
    limit,
    ({ position }) => position,
    ({ item }) => item,
  ),
  entity: entity === null ? null : { ...entity, formerly: [...entity.formerly] },
});

/** The trace of an entity by its id, or by that of the rows that name none. */
export const findTraced = async ({ db }: Caller, entityId: number | null): Promise<Traced> =>
  (entityId === null ? undefined : await findTracedEntity(db, entityId)) ?? {
    entity: null,
    places: [],
  };
