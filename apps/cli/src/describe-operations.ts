import type { failedOutput } from '@paddock/api/operations/failed-operations';
import type { listOperationsEndpoint } from '@paddock/api/operations/list-operations';
import type { operation, operationRow } from '@paddock/api/operations/operation';
import type { DrainedPool } from '@paddock/api/pools/pools';
import { stringify } from 'yaml';
import type { z } from 'zod';
import { table } from './ask-command.ts';
import type { Fields } from './asker.ts';
import { asYaml, columns, more, printable } from './columns.ts';
import { type Given, WrongUsage } from './command.ts';

export const operationTable = (nothing: string) =>
  table<z.input<typeof operationRow>>(
    ['ID', 'KIND', 'SUBJECT', 'STATUS', 'ATTEMPT', 'QUEUED', 'BY', 'FAILURE'],
    ({ failure, subject, ...row }) => [
      row.id,
      row.kind,
      `${subject.type}:${subject.name ?? subject.id}`,
      row.status,
      `${row.attempt}/${row.maxAttempts}`,
      row.queuedAt,
      row.requestedBy,
      failure === null ? null : `${failure.reason}: ${failure.message}`,
    ],
    nothing,
  );

type List = z.input<typeof listOperationsEndpoint.output>;

/** The operations of a subject, with all of each if that was asked for. */
export const describeOperations = ({ items, next }: List): string =>
  items.some(({ output }) => output !== undefined)
    ? asYaml(items) + more(next)
    : operationTable('There is no operation of this subject.')({ items, next });

type Operation = z.input<typeof operation>;

const failedRuns = (failures: Operation['failures']): string =>
  columns(
    ['RUN', 'AT', 'ENDED', 'BECAUSE'],
    failures.map(({ attempt, at, reason, message }) => [attempt, at, reason, message]),
    '',
  );

const handledBy = ({ by, at, retriedAs }: NonNullable<Operation['handled']>): string =>
  `\n${retriedAs === null ? 'discarded' : `retried as ${retriedAs}`} by ${printable(by)} at ${at}\n`;

/** Each once, in order. */
const people = (askers: Operation['askers']): string =>
  [...new Set(askers.map(({ person }) => printable(person)))].join(', ');

/** One operation with all that is known of it. */
export const describeOperation = ({ output, askers, failures, ...row }: Operation): string =>
  [
    operationTable('')({ items: [row] }),
    ...(output === null ? [] : [`\n${stringify(output)}`]),
    ...(failures.length === 0 ? [] : ['\n', failedRuns(failures)]),
    ...(row.handled === null ? [] : [handledBy(row.handled)]),
    ...(askers.length === 0 ? [] : [`\nasked for by: ${people(askers)}\n`]),
  ].join('');

/** One line about an operation that was asked for: what it is, and whose. */
export function describeStarted(row: Operation): string {
  const { id, kind, subject, status, requestedBy, askers } = row;
  const others = new Set([requestedBy, ...askers.map(({ person }) => person)]).size - 1;
  const whose =
    others === 0
      ? ''
      : ` ${printable(requestedBy ?? 'Somebody')} asked for it before; it serves you too.`;
  return `${status.toLowerCase()}: ${kind} of ${printable(subject.name ?? subject.id)}.${whose} See \`paddock operation ${id}\`.\n`;
}

/** How many failed operations a command was about, and how many are left. */
export const describeHandled =
  (done: string) =>
  ({ operations, paused, more: others, dryRun }: z.input<typeof failedOutput>): string =>
    [
      `${operations} failed operations ${dryRun ? `would be ${done}` : `are ${done}`}.`,
      ...(paused === 0 ? [] : [`${paused} stay, because their sweeps are paused.`]),
      ...(others ? ['There are more: repeat the command.'] : []),
      '',
    ].join('\n');

/** How many workers stop, and how many do not. */
export function describeDrained({ output }: Operation): string {
  const { stopping, busy, dryRun = false } = output as DrainedPool;
  return `${stopping} workers ${dryRun ? 'would stop' : 'are to stop'}; ${busy} go on to the end of their jobs.\n`;
}

/** Which failed operations are meant must be said: a forgotten filter would mean all. */
export const readFailed =
  (how: 'retry' | 'discard') =>
  ({ options: { kind, from, to, all } }: Given): Fields => {
    const isNarrowed = [kind, from, to].some((given) => given !== undefined);
    if (isNarrowed === (all === true))
      throw new WrongUsage('It takes either --all, or some of --kind, --from and --to.');
    return { how };
  };
