/**
 * Decides, each time it is asked, whether a fault strikes, for a share (0–1) of the times: at
 * random, and yet evenly. However few times it is asked, what has struck is never a whole one short
 * of the share.
 */
export function evenShare(random: () => number): (share: number) => boolean {
  let owed = 0;
  return (share) => {
    owed += share;
    const strikes = random() < owed;
    if (strikes) owed -= 1;
    return strikes;
  };
}
