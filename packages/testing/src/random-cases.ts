import fc from 'fast-check';

const drawn = process.env['PADDOCK_SEED'];

/** What random cases begin from: the same in every run, so that a test tries the same cases each time. `pnpm soak` draws others. */
const SEED = Number(drawn ?? 1);

fc.configureGlobal({ seed: SEED });

/** Seeds for a test whose random cases take a while each: everyday runs also try those that once found a defect. */
export const seedsAnd = (...foundDefects: readonly number[]): readonly number[] => (drawn === undefined ? [SEED, ...foundDefects] : [SEED]);

export { fc };
