import { type Bench, say, quantileOf, toHundredths } from '../bench.ts';
import { onStage } from '../stage/stage.ts';
import { SHORT, TIGHT_CAPS, type Times, USUAL } from '../stage/times.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './matrix.ts';
import { complaintsOfOthers, p99Of, withoutFault } from './judge.ts';
import { recordTape, RULES_OF_TAPES } from './tape.ts';
import { describeSigns } from './signs.ts';
import { type Played, playFault } from './play-fault.ts';
import { furnish } from './world.ts';

/**
 * Some faults must time out or pause first, and redelivery asks GitHub for several deliveries of
 * each job, 180 a minute.
 */
const patienceMs = (jobs: number): number => 120_000 + jobs * 1_600;

export const faults: Bench<'jobs' | 'beside'> = {
  about:
    'jobs during faults: how many are lost, left over or killed, for each fault; --beside: the number of faults at a time',
  numbers: { jobs: 300, beside: 1 },
  parts: FAULTS.map(({ name }) => name),
  async run({ jobs, beside }, { fault: part, tape } = {}) {
    const wanted = FAULTS.filter(({ name }) => part === undefined || name === part);
    const rows = new Map<Fault, Row>();
    const known = new Map<string, Promise<number>>();
    const playRow = async (fault: Fault): Promise<Row> => {
      if (fault.hit === undefined)
        return { ...(await playAlone(fault, jobs, tape)), othersP99Without: undefined };
      const without = withoutFault(fault);
      const before = known.get(without.name) ?? playWithout(without, jobs);
      known.set(without.name, before);
      let othersP99Without = await before;
      const row = await playAlone(fault, jobs, tape);
      const complaints = () => complaintsOfOthers(row.othersStarts, othersP99Without, jobs);
      // The machine may have been idler before: the slower of two counts.
      if (complaints().length > 0)
        othersP99Without = Math.max(othersP99Without, await playWithout(without, jobs));
      return { ...row, othersP99Without, unsettled: [...row.unsettled, ...complaints()] };
    };
    // From the end: the longest rows are there, and should not run alone at the end.
    const left = [...wanted];
    const playOn = async (): Promise<void> => {
      for (let fault = left.pop(); fault !== undefined; fault = left.pop()) {
        say(`${fault.name}: ${jobs} jobs`);
        const row = await playRow(fault).catch(messageOf);
        if (typeof row === 'string') {
          say(`${fault.name}: ${row}`);
          continue;
        }
        rows.set(fault, row);
        say(
          `${fault.name}: ${row.unsettled.length === 0 ? 'settled' : row.unsettled.join('; ')} after ${row.seconds.toFixed(1)} s`,
        );
      }
    };
    await Promise.all(Array.from({ length: beside }, playOn));
    const ended = wanted.flatMap((fault) => rows.get(fault) ?? []);
    return {
      tables: [ended.map(toResult)],
      notes: notesOf(ended),
      failed: ended.length < wanted.length || ended.some(({ unsettled }) => unsettled.length > 0),
    };
  },
};

/** The reason why a fault did not run to its end; the other rows continue. */
const messageOf = (error: unknown): string =>
  `did not run to its end: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;

/** Under tight caps this many jobs would never end. */
const MANY = 50;

function timesOf({ atUsualTimes = false, tightCaps = false }: Fault, jobs: number): Times {
  const times = atUsualTimes ? USUAL : SHORT;
  return tightCaps && jobs < MANY ? { ...times, caps: TIGHT_CAPS } : times;
}

/** The p99 of others' starts, in seconds. */
async function playWithout(fault: Fault, jobs: number): Promise<number> {
  const { unsettled, othersStarts } = await playAlone(fault, jobs);
  if (unsettled.length > 0)
    throw new Error(`The run without the fault has not settled: ${unsettled.join('; ')}`);
  return p99Of(othersStarts) ?? 0;
}

/** Runs on a separate PostgreSQL, which a fault may halt. */
const playAlone = (fault: Fault, jobs: number, folder?: string): Promise<Played> =>
  onStage(
    { settings: { max_connections: '300' } },
    {
      ...fault,
      ...(folder && { rules: { ...fault.rules, ...RULES_OF_TAPES } }),
      times: timesOf(fault, jobs),
      furnish: furnish(fault.hit !== undefined),
    },
    (stage) => {
      const play = () => playFault(stage, fault, jobs, patienceMs(jobs + (fault.hit?.first ?? 0)));
      return folder === undefined ? play() : recordTape(stage, { folder, row: fault.name }, play);
    },
  );

interface Row extends Played {
  /** The p99 of others' starts in a run without the fault, in seconds; undefined: no others. */
  readonly othersP99Without: number | undefined;
}

/** The row of the table. */
const toResult = (row: Row) => ({
  fault: row.fault,
  jobs: row.jobs,
  made: row.registrationsMade,
  // Pods of one environment, and of one of its entities.
  most_at_once: `${row.mostActive.pool} (${row.mostActive.entity})`,
  excess: row.excessWorkers,
  // Calls that GitHub had asked to wait for.
  too_soon: row.callsAgainstWait,
  seconds: toHundredths(row.seconds),
  // How many jobs had no runner when the faulty part came back, and how much later they had one.
  waited: row.afterFault.length,
  p50_s: toHundredths(quantileOf(row.afterFault, 0.5)),
  p99_s: toHundredths(quantileOf(row.afterFault, 0.99)),
  // The p99 of others' starts, with the fault and without it.
  others_s: toHundredths(p99Of(row.othersStarts)),
  without_s: toHundredths(row.othersP99Without),
});

/** The signs of the faults, and last the complaints. */
const notesOf = (rows: readonly Row[]): string =>
  [
    ...rows.map(({ fault, signs }) => `${fault}: ${describeSigns(signs)}`),
    ...rows.flatMap(({ fault, unsettled }) => unsettled.map((line) => `${fault}: ${line}`)),
  ].join('\n');
