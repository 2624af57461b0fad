/**
 * Numbers between 0 and 1 that look random, and are the same for the same seed, a whole number. A
 * linear congruential generator, with the factors of “Numerical Recipes”.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
