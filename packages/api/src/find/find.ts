import { findRepositoryByName } from '@paddock/db/people/find-by-name';
import { findByName, findByNumber, findByUuid, type Named } from '@paddock/db/people/find-named';
import { readJobReference } from '@paddock/domain/why/job-reference';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NUMBER = /^[1-9]\d{0,14}$/;
const FULL_NAME = /^[\w.-]+\/[\w.-]+$/;
/** OWNER or OWNER/NAME of an address at GitHub. */
const OF_ADDRESS = /^https?:\/\/[^/]+\/([\w.-]+(?:\/[\w.-]+)?)(?:[/?#]|$)/i;

export const findEndpoint = endpoint({
  name: 'find',
  method: 'GET',
  path: '/api/v1/find',
  summary: 'Says what has an id, a name or an address at GitHub, the likeliest first.',
  access: 'read',
  status: 200,
  input: z.object({
    text: z
      .string()
      .max(1_000)
      .transform((text) => text.trim())
      .describe(
        'The id of a job, of a run that waits or runs, of an installation, an entity, an operation, a delivery or an event; the name of a worker, a pool, a repository or an entity; or the address of a job, a run or a repository at GitHub',
      ),
  }),
  output: z.object({
    items: z.array(
      z.object({
        kind: z.enum([
          'job',
          'run',
          'worker',
          'operation',
          'delivery',
          'repository',
          'pool',
          'entity',
          'installation',
          'event',
        ]),
        id: z.string(),
        name: z
          .string()
          .nullable()
          .describe('Of a run, the login of its owner. Null: it has none beside its id'),
      }),
    ),
  }),
  answer: async (caller, { text }) => ({ items: await find(caller, text) }),
});

async function find(caller: Caller, text: string): Promise<Named[]> {
  if (NUMBER.test(text)) return findByNumber(caller.db, Number(text));
  if (UUID.test(text)) return findByUuid(caller.db, text.toLowerCase());
  const atGitHub = readJobReference(text);
  // Whether Paddock knows it is for the answer about it to say.
  if (atGitHub !== undefined)
    return 'job' in atGitHub
      ? [{ kind: 'job', id: String(atGitHub.job), name: null }]
      : [{ kind: 'run', id: String(atGitHub.run), name: atGitHub.owner }];
  const [, inAddress = text] = OF_ADDRESS.exec(text) ?? [];
  if (!FULL_NAME.test(inAddress)) return findByName(caller.db, inAddress);
  const repository = await findRepositoryByName(caller.db, inAddress);
  return repository === undefined
    ? []
    : [{ kind: 'repository', id: String(repository), name: inAddress }];
}
