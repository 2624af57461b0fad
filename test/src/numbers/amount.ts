const MS = { MS: 1, SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;

/** Milliseconds and bytes; any other word after a number names the counted thing. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', MS.SECONDS],
  ['min', MS.MINUTES],
  ['h', MS.HOURS],
  ['d', MS.DAYS],
  ['KB', 1024],
  ['MB', 1024 ** 2],
]);

/**
 * A number as people say it in milliseconds, in bytes, or as it is: `8 s` is 8 000, `180 a minute`
 * is 180.
 */
export function amountOf(text: string): number {
  const [, digits, unit] = /^(\d+(?: \d{3})*(?:\.\d+)?)(?: (\S.*))?$/.exec(text) ?? [];
  if (digits === undefined)
    throw new Error(`${JSON.stringify(text)} is not a number with its unit.`);
  return Number(digits.replaceAll(' ', '')) * (UNITS.get(unit ?? '') ?? 1);
}

/**
 * The value of a setting or a rule in milliseconds, in bytes, or as it is: its name ends in its
 * unit.
 */
export const amountOfValue = (name: string, value: number): number =>
  value * (Object.entries(MS).find(([unit]) => name.toUpperCase().endsWith(unit))?.[1] ?? 1);
