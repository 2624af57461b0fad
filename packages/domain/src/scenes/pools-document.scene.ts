import type { Pool } from '../pools/pool.ts';
import { poolsDocument } from '../pools/pools-document.ts';

/** The pool `a` with the label `x`; `given` has the differences. */
export const poolWith = <T extends object>(given: T) => ({
  name: 'a',
  labels: ['x'],
  image: 'runner:1',
  namespace: 'runners',
  ...given,
});

export const documentOf = (pools: readonly object[], entities: object = { '*': {} }) =>
  poolsDocument.parse({ pools: pools.map(poolWith), entities });

export function parsedPool(given: object): Pool {
  const [pool] = documentOf([given]).pools;
  if (pool === undefined) throw new Error('There has to be a pool.');
  return pool;
}

/** What is wrong with such pools, each problem with its place. */
export const problemsOf = (pools: readonly object[], entities: object = { acme: {} }): string[] =>
  problemsIn({ pools: pools.map(poolWith), entities });

export const problemsIn = (content: unknown): string[] =>
  poolsDocument
    .safeParse(content)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
