import { z } from 'zod';

/** `Number` would take `1e1`, `0x10`, blanks and nothing for numbers, too. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number in a query, a path or a command line: text of digits. */
export const fromDigits = <N extends z.ZodNumber>(schema: N) =>
  z.preprocess(
    (given) => (typeof given === 'string' && NUMBER.test(given) ? Number(given) : given),
    schema,
  );

/** An id of GitHub’s. */
export const githubId = () => fromDigits(z.number().int().positive());
