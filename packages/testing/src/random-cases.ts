import fc from 'fast-check';

const drawn = process.env['PADDOCK_SEED'];

/**
 * The seed of random cases. It is the same in every run, so that a test tries the same cases each
 * time. `pnpm soak` sets others.
 */
const SEED = Number(drawn ?? 1);

fc.configureGlobal({ seed: SEED });

/**
 * Seeds for a test with slow random cases. Every run also tries the seeds that once found a defect.
 */
export const seedsAnd = (...foundDefects: readonly number[]): readonly number[] =>
  drawn === undefined ? [SEED, ...foundDefects] : [SEED];

/**
 * Any character of well-formed text. fast-check's arbitrary, `binary`, first lists them all, which
 * takes a second of CPU.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map((rank) => String.fromCodePoint(rank < 0xd8_00 ? rank : rank + 0x8_00));

export { fc };
