/** `1 job`, `2 jobs`, `1 234 jobs`. */
export const count = (many: number, one: string, more = `${one}s`): string =>
  `${number(many)} ${many === 1 ? one : more}`;

/** With thin spaces, so that thousands are seen. */
export const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');

/** As the API names what no pool serves. */
export const NO_POOL = '(none)';

export const poolName = (pool: string): string => (pool === NO_POOL ? 'no pool fits' : pool);

/** A measured value: below 10 with one decimal, so that a little is not nothing. */
export function amount(value: number): string {
  if (value > 0 && value < 0.05) return '< 0.1';
  return value > 0 && value < 9.95 ? value.toFixed(1) : number(Math.round(value));
}

/** A stored word as people read it: `at_pool_cap` is `at pool cap`. */
export const plain = (word: string): string => word.replaceAll('_', ' ');
