/** `1 job`, `2 jobs`, `1 234 jobs`. */
export const count = (many: number, one: string, more = `${one}s`): string =>
  `${number(many)} ${many === 1 ? one : more}`;

/** With thin spaces, so that thousands are seen. */
export const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');

/** A stored word as people read it: `at_pool_cap` is `at pool cap`. */
export const plain = (word: string): string => word.replaceAll('_', ' ');
