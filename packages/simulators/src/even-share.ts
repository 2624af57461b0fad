/**
 * Decides on each call whether a fault strikes, for a share (0–1) of the calls: at random, and yet
 * evenly. After any number of calls, the strikes are less than one short of the share.
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
