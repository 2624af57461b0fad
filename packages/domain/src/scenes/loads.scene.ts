import { type Load, type LoadedJob, lognormal } from './replayed-load.scene.ts';

const HOUR = 3_600;
const usual = (random: () => number): number => lognormal(random, 240, 0.6);
const alike = (random: () => number): number => lognormal(random, 400, 0.1);
/** Three quarters take a minute or less, the others a third of an hour. */
const mixed = (random: () => number): number =>
  random() < 0.75 ? lognormal(random, 40, 0.3) : lognormal(random, 1_200, 0.3);

/** They come one by one, as many an hour as `hourly` says for its second. */
function flow(
  random: () => number,
  {
    key = 10,
    hourly,
    runs = usual,
    hours,
  }: { key?: number; hourly: (second: number) => number; runs?: typeof usual; hours: number },
): LoadedJob[] {
  return Array.from({ length: hours * HOUR }, (_, at) => at)
    .filter((at) => random() < hourly(at) / HOUR)
    .map((at) => ({ key, at, runs: runs(random) }));
}
const burst = (
  random: () => number,
  count: number,
  { key = 10, hour, runs = usual }: { key?: number; hour: number; runs?: typeof usual },
) => Array.from({ length: count }, () => ({ key, at: hour * HOUR, runs: runs(random) }));

/** What an installation may see. */
export const LOADS: Readonly<Record<string, Load>> = {
  'steady, below the cap': {
    cap: () => 20,
    seconds: 5 * HOUR,
    jobs: (random) => flow(random, { hourly: () => 144, hours: 5 }),
  },
  'steady, more than the cap serves': {
    cap: () => 20,
    seconds: 5 * HOUR,
    jobs: (random) => flow(random, { hourly: () => 267, hours: 5 }),
  },
  'a burst at the cap': {
    cap: () => 20,
    seconds: 5 * HOUR,
    jobs: (random) => [
      ...flow(random, { hourly: () => 60, hours: 5 }),
      ...burst(random, 400, { hour: 2 }),
    ],
  },
  'matrices of equal jobs': {
    cap: () => 20,
    seconds: 5 * HOUR,
    jobs: (random) => [
      ...flow(random, { hourly: () => 30, hours: 5 }),
      ...[1.5, 2.5, 3.5].flatMap((hour) => burst(random, 120, { hour, runs: alike })),
    ],
  },
  'two queues under one cap': {
    cap: () => 20,
    seconds: 6 * HOUR,
    jobs: (random) => [
      ...flow(random, { hourly: () => 90, hours: 6 }),
      ...flow(random, { key: 20, hourly: () => 60, hours: 6 }),
      ...burst(random, 200, { hour: 2 }),
      ...burst(random, 150, { key: 20, hour: 2.3 }),
    ],
  },
  'short and long jobs mixed': {
    cap: () => 20,
    seconds: 6 * HOUR,
    jobs: (random) => [
      ...flow(random, { hourly: () => 144, hours: 6, runs: mixed }),
      ...burst(random, 200, { hour: 3, runs: mixed }),
    ],
  },
  'the rhythm of a day': {
    cap: () => 20,
    seconds: 12 * HOUR,
    jobs: (random) =>
      flow(random, {
        hourly: (at) => 144 * (1 - Math.cos((2 * Math.PI * at) / (12 * HOUR))),
        hours: 12,
      }),
  },
  'the cap halved, later raised': {
    cap: (second) => (second < 2.3 * HOUR ? 20 : second < 3 * HOUR ? 10 : 30),
    seconds: 5 * HOUR,
    jobs: (random) => [
      ...flow(random, { hourly: () => 60, hours: 5 }),
      ...burst(random, 500, { hour: 2 }),
    ],
  },
};
