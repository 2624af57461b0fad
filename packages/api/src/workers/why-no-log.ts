import type { FailureInfo } from '@paddock/db/schema/tables';
import { z } from 'zod';

const withContainers = z.object({
  containers: z.array(z.object({ log: z.string().nullable(), logMissing: z.string().optional() })),
});

/** Why a diagnosis has no end of a log; null: it has one. */
export function whyNoLog(diagnosis: FailureInfo | null): string | null {
  if (diagnosis === null)
    return 'The worker was not diagnosed: only those that failed, are stuck or were stopped are.';
  if (diagnosis.version === 1) return 'The pod was not read: it was gone, or there was none.';
  const { data } = withContainers.safeParse(diagnosis);
  const containers = data?.containers ?? [];
  if (containers.some(({ log }) => log !== null && log.trim() !== '')) return null;
  const missing = containers.find(({ logMissing }) => logMissing !== undefined)?.logMissing;
  if (missing !== undefined) return `The log could not be read: ${missing}`;
  return containers.some(({ log }) => log !== null)
    ? 'The log is empty.'
    : 'No container of the pod had begun.';
}
