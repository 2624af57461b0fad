import { z } from 'zod';

const QUANTITY = /^\+?(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const WANTED =
  'must be a quantity: a number, alone or with m, k, M, G, T, Ki, Mi, Gi or Ti right behind it, such as 500m or 16Gi (no GB, no cores)';

/**
 * An amount in Kubernetes' form. Without a unit YAML reads a number, which the API server takes,
 * too.
 */
export const quantity = z.union(
  [z.number().min(0, WANTED), z.string().regex(QUANTITY, WANTED)],
  WANTED,
);

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * The amount in its base unit (cores, bytes, devices); undefined if invalid. The unit is read as
 * part of the number, so that 1100m equals 1.1 exactly.
 */
export function readQuantity(given: unknown): number | undefined {
  if (typeof given === 'number') return given >= 0 ? given : undefined;
  const [, digits, unit = ''] = (typeof given === 'string' ? QUANTITY.exec(given) : null) ?? [];
  if (digits === undefined) return undefined;
  const binary = BINARY.indexOf(unit);
  if (binary >= 0) return Number(digits) * 1024 ** (binary + 1);
  const exponent = DECIMAL[unit];
  return Number(exponent === undefined ? `${digits}${unit}` : `${digits}e${exponent}`);
}
