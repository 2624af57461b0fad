import { alignColumns, medianOf } from '../figures.ts';
import type { Measured } from './measure-statements.ts';

/** One periodic statement, and the same with ten times as much activity. */
export interface Statement extends Measured {
  readonly more: Measured;
}

/** The services on these rows. */
export interface Services {
  /** Resident memory of each service, by its name. */
  readonly memory: readonly {
    readonly minute: number;
    readonly megabytes: Readonly<Record<string, number>>;
  }[];
  /** Passes of sweeps that ended. */
  readonly passes: number;
  /** Errors of failed passes, with the sweep. */
  readonly failures: readonly string[];
}

const MOST_MS = 50;
const MOST_MS_OF_MORE = 200;
/** From here on memory may not grow: caches are full and connections open. */
const WARM_AFTER_MINUTES = 10;
/** Share of the memory around that minute: a garbage collector sometimes leaves this much more. */
const MOST_GROWTH = 1.15;

/** A sweep has failed, or a service's memory grows. */
export const haveFailed = (services: Services): boolean =>
  services.failures.length > 0 || findGrowing(services).length > 0;

export const isSlow = ({ ms, more }: Statement): boolean =>
  ms >= MOST_MS || more.ms >= MOST_MS_OF_MORE;

/** The services whose memory has grown since they were warm, by the medians of five minutes. */
function findGrowing({ memory }: Services): string[] {
  const warm = memory.filter(({ minute }) => minute >= WARM_AFTER_MINUTES);
  const names = Object.keys(memory[0]?.megabytes ?? {});
  const median = (minutes: Services['memory'], name: string) =>
    medianOf(minutes.map(({ megabytes }) => megabytes[name] ?? Number.NaN));
  return names.filter(
    (name) => median(warm.slice(-5), name) > MOST_GROWTH * median(warm.slice(0, 5), name),
  );
}

export function tableOfStatements(statements: readonly Statement[]): string {
  const rows = statements.map((one) => [
    one.name,
    one.ms.toFixed(2),
    String(one.buffers),
    one.more.ms.toFixed(2),
    String(one.more.buffers),
    isSlow(one) ? 'slow' : '',
  ]);
  return alignColumns([['statement', 'ms', 'buffers', 'ms at 10 times', 'buffers', ''], ...rows]);
}

export function tableOfServices(services: Services): string {
  const { memory, passes, failures } = services;
  const names = Object.keys(memory[0]?.megabytes ?? {});
  const rows = memory.map(({ minute, megabytes }) =>
    [`minute ${minute}`].concat(names.map((name) => `${megabytes[name]} MB`)),
  );
  const growing = findGrowing(services);
  return [
    alignColumns([['memory', ...names], ...rows]),
    '',
    `${passes} passes of sweeps, ${failures.length} failed; memory grows: ${growing.length === 0 ? 'nowhere' : growing.join(', ')}`,
    ...failures,
  ].join('\n');
}
