/**
 * The smallest raise that is enough, between `least` and `most`, found by doubling and halving.
 * Assumes that a larger raise is enough too: else the answer is enough, and maybe not the smallest.
 * Undefined: none up to `most` is enough.
 */
export async function smallestRaise(
  { least, most }: { least: number; most: number },
  isEnough: (raise: number) => Promise<boolean>,
): Promise<number | undefined> {
  let tooFew = least - 1;
  let enough = least;
  while (!(await isEnough(enough))) {
    if (enough >= most) return undefined;
    tooFew = enough;
    enough = Math.min(2 * enough, most);
  }
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (await isEnough(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}
