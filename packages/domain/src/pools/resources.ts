import { z } from 'zod';
import { asRecord } from './as-record.ts';
import { misplacedInResources } from './misplaced-keys.ts';
import { QUALIFIED_NAME } from './kubernetes-names.ts';
import { quantity, readQuantity } from './quantity.ts';

const amounts = z.record(z.string(), quantity);

/**
 * Requests and limits of the runner's container in Kubernetes' shape. Refuses what the API server
 * would refuse. A limit without a request is valid: the API server uses it for both.
 */
export const resources = z
  .strictObject({
    ...misplacedInResources,
    requests: amounts.optional(),
    limits: amounts.optional(),
  })
  .superRefine((given, context) => judge(asRecord(given), context), { when: () => true });

/** Reports all problems at once, invalid amounts included. */
function judge(given: Record<string, unknown>, context: z.RefinementCtx): void {
  const report = (path: string[], message: string | undefined) =>
    message === undefined ? undefined : context.addIssue({ code: 'custom', path, message });
  const [requests, limits] = [asRecord(given['requests']), asRecord(given['limits'])];
  for (const [name, amount] of Object.entries(limits))
    report(['limits', name], problemOf(name, readQuantity(amount)));
  for (const [name, amount] of Object.entries(requests)) {
    const request = readQuantity(amount);
    const limit = Object.hasOwn(limits, name) ? readQuantity(limits[name]) : null;
    report(['requests', name], problemOf(name, request) ?? problemOfPair(name, request, limit));
  }
  const names = [...Object.keys(requests), ...Object.keys(limits)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory'))
    report([], 'huge pages need cpu or memory beside them');
}

/** Resources with a domain other than Kubernetes' are extended ones, such as devices. */
const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/');
/** The devices and other extended resources in a container's unchecked resources. */
export const devicesIn = (written: unknown): string[] =>
  Object.keys(asRecord(asRecord(written)['limits'])).filter(isExtended);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

const MEBIBYTE = 1024 ** 2;

/**
 * Describes the problem of a resource. An undefined amount was unreadable, and is already reported.
 */
function problemOf(name: string, amount: number | undefined): string | undefined {
  if (
    !name.includes('/') &&
    !['cpu', 'memory', 'ephemeral-storage'].includes(name) &&
    !isHugePages(name)
  ) {
    return 'is no resource: there are cpu, memory, ephemeral-storage and hugepages-SIZE, and devices with their domain, such as nvidia.com/gpu';
  }
  // Quotas put `requests.` before the name, so it must have room for that, and not begin with it.
  if (
    !QUALIFIED_NAME.test(isExtended(name) ? `requests.${name}` : name) ||
    (isExtended(name) && name.startsWith('requests.'))
  ) {
    return 'is no name of a resource: it must be as example.com/device';
  }
  if (amount === undefined) return undefined;
  if (isExtended(name) && !Number.isInteger(amount)) return 'must be a whole number';
  // No program runs in so little memory: the unit is missing, or `m` (a thousandth) is wrong.
  if (name === 'memory' && amount > 0 && amount < MEBIBYTE)
    return 'is less than a mebibyte: write the unit, such as 512Mi or 16Gi';
  return undefined;
}

/** `limit` is null if absent, undefined if unreadable. */
function problemOfPair(
  name: string,
  request: number | undefined,
  limit: number | null | undefined,
): string | undefined {
  if (request === undefined || limit === undefined) return undefined;
  if (!isExtended(name) && !isHugePages(name))
    return limit !== null && request > limit ? 'is more than limits has of it' : undefined;
  if (limit === null)
    return 'needs the same amount in limits, where it may stand alone: Kubernetes takes it for both';
  return request === limit
    ? undefined
    : 'must be the amount in limits, where it may stand alone: Kubernetes takes it for both';
}
