import { type ListedInstallation, listInstallations } from '@paddock/db/people/list-installations';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';

/** An installation as GitHub last stated it. */
export const installation = z.object({
  entity: z.object({ id: z.int(), login: z.string(), type: z.enum(['Organization', 'User']) }),
  app: z.int(),
  id: z.int(),
  state: z.enum(['installed', 'suspended', 'deleted']),
  since: z.iso.datetime().nullable().describe('Since when it is suspended or deleted'),
  repositories: z.string().nullable().describe('`all` or `selected`; null: GitHub has not said'),
});

export const listInstallationsEndpoint = endpoint({
  name: 'listInstallations',
  method: 'GET',
  path: '/api/v1/installations',
  summary: 'Lists the installations of the Apps, by entity and App.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.int(), z.int()])) }),
  output: pageOf(installation),
  answer: async ({ db }, input) =>
    toPage(
      await listInstallations(db, { ...input, limit: rowsToRead(input.limit) }),
      input.limit,
      ({ entityId, appId }) => [entityId, appId],
      toInstallation,
    ),
});

export function toInstallation(row: ListedInstallation): z.input<typeof installation> {
  const { entityId, login, entityType, appId, installationId, suspendedAt, deletedAt } = row;
  return {
    entity: { id: entityId, login, type: entityType },
    app: appId,
    id: installationId,
    state: deletedAt !== null ? 'deleted' : suspendedAt !== null ? 'suspended' : 'installed',
    since: (deletedAt ?? suspendedAt)?.toISOString() ?? null,
    repositories: row.repositorySelection,
  };
}
