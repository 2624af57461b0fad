import { z } from 'zod';
import { asRecord } from './as-record.ts';
import { misplacedInResources } from './misplaced-keys.ts';
import { QUALIFIED_NAME } from './kubernetes-names.ts';
import { quantity, readQuantity } from './quantity.ts';

const amounts = z.record(z.string(), quantity);

/**
 * Requests and limits of the runner's container, in Kubernetes' own shape. What the API server
 * would refuse is refused. What may be left out stays so: the API server takes a limit without a
 * request for both.
 */
export const resources = z
  .strictObject({ ...misplacedInResources, requests: amounts.optional(), limits: amounts.optional() })
  .superRefine((given, context) => judge(asRecord(given), context), { when: () => true });

/** What hangs together is told beside amounts that are none, so that a file is corrected once. */
function judge(given: Record<string, unknown>, context: z.RefinementCtx): void {
  const report = (path: string[], message: string | undefined) =>
    message === undefined ? undefined : context.addIssue({ code: 'custom', path, message });
  const [requests, limits] = [asRecord(given['requests']), asRecord(given['limits'])];
  for (const [name, amount] of Object.entries(limits)) report(['limits', name], problemOf(name, readQuantity(amount)));
  for (const [name, amount] of Object.entries(requests)) {
    const request = readQuantity(amount);
    const limit = Object.hasOwn(limits, name) ? readQuantity(limits[name]) : null;
    report(['requests', name], problemOf(name, request) ?? problemOfPair(name, request, limit));
  }
  const names = [...Object.keys(requests), ...Object.keys(limits)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory'))
    report([], 'huge pages need cpu or memory beside them');
}

/**
 * Kubernetes' own resources have no domain, or one of its own; any other is an extended one, as
 * devices are.
 */
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/');
/**
 * The devices and other extended resources that a container's resources name; these may be
 * unchecked.
 */
export const devicesIn = (written: unknown): string[] => Object.keys(asRecord(asRecord(written)['limits'])).filter(isExtended);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

const MEBIBYTE = 1024 ** 2;

/**
 * What is wrong with a resource; its amount is undefined if it could not be read, which has been
 * told.
 */
function problemOf(name: string, amount: number | undefined): string | undefined {
  if (!name.includes('/') && !['cpu', 'memory', 'ephemeral-storage'].includes(name) && !isHugePages(name)) {
    return 'is no resource: there are cpu, memory, ephemeral-storage and hugepages-SIZE, and devices with their domain, such as nvidia.com/gpu';
  }
  // Quotas put `requests.` before the name, which must have room for it and not begin so.
  if (!QUALIFIED_NAME.test(isExtended(name) ? `requests.${name}` : name) || (isExtended(name) && name.startsWith('requests.'))) {
    return 'is no name of a resource: it must be as example.com/device';
  }
  if (amount === undefined) return undefined;
  if (isExtended(name) && !Number.isInteger(amount)) return 'must be a whole number';
  // Nothing starts with so little: a unit was forgotten, or `m`, thousandths, was taken for one.
  if (name === 'memory' && amount > 0 && amount < MEBIBYTE) return 'is less than a mebibyte: write the unit, such as 512Mi or 16Gi';
  return undefined;
}

/** `limit` is null if there is none, undefined if it could not be read. */
function problemOfPair(name: string, request: number | undefined, limit: number | null | undefined): string | undefined {
  if (request === undefined || limit === undefined) return undefined;
  if (!isExtended(name) && !isHugePages(name)) return limit !== null && request > limit ? 'is more than limits has of it' : undefined;
  if (limit === null) return 'needs the same amount in limits, where it may stand alone: Kubernetes takes it for both';
  return request === limit ? undefined : 'must be the amount in limits, where it may stand alone: Kubernetes takes it for both';
}
