/**
 * The smallest raise that is enough, between `least` and `most`, found by doubling and halving.
 * Assumes that a larger raise is enough too: else the answer is enough, and maybe not the smallest.
 * Undefined: none up to `most` is enough.
 */
export async function smallestRaise(
  { least, most }: { least: number; most: number },
  isEnough: (raise: number) => Promise<boolean>,
): Promise<number | undefined> {
  let lowest = least;
  let enough = least;
  while (!(await isEnough(enough))) {
    if (enough >= most) return undefined;
    lowest = enough + 1;
    enough = Math.min(2 * enough, most);
  }
  while (lowest < enough) {
    const middle = Math.floor((lowest + enough) / 2);
    if (await isEnough(middle)) enough = middle;
    else lowest = middle + 1;
  }
  return enough;
}
