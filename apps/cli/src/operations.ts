import { countOperationsEndpoint } from '@paddock/api/operations/count-operations';
import { findOperationEndpoint } from '@paddock/api/operations/find-operation';
import {
  listFailedOperationsEndpoint,
  listOperationsEndpoint,
} from '@paddock/api/operations/list-operations';
import type { operation, operationRow } from '@paddock/api/operations/operation';
import { stringify } from 'yaml';
import type { z } from 'zod';
import { asYaml } from './as-yaml.ts';
import { askCommand } from './ask-command.ts';
import { columns, printable } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, more } from './list-options.ts';
import { oneWord } from './one-word.ts';

type OperationRow = z.input<typeof operationRow>;

const table = (items: readonly OperationRow[], nothing: string): string =>
  columns(
    ['ID', 'KIND', 'SUBJECT', 'STATUS', 'ATTEMPT', 'QUEUED', 'BY', 'FAILURE'],
    items.map(({ failure, subject, ...row }) => [
      row.id,
      row.kind,
      `${subject.type}:${subject.name ?? subject.id}`,
      row.status,
      `${row.attempt}/${row.maxAttempts}`,
      row.queuedAt,
      row.requestedBy,
      failure === null ? null : `${failure.reason}: ${failure.message}`,
    ]),
    nothing,
  );

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

export const operationsCommands: readonly Command[] = [
  askCommand({
    name: 'operations counts',
    takes: '',
    summary: 'Counts the operations that ended, by kind, outcome and hour or day.',
    options: {
      from: { ...DATES.from, doc: `${DATES.from.doc}; a day ago unless said` },
      to: { ...DATES.to, doc: `${DATES.to.doc}; now unless said` },
      step: { type: 'string', value: 'hour|day', doc: 'hour unless said' },
      kind: { type: 'string', value: 'KIND', doc: 'of this kind only' },
    },
    endpoint: countOperationsEndpoint,
    input: ({ options }) => options,
    print: ({ items }) =>
      columns(
        ['FROM', 'KIND', 'OUTCOME', 'ENDED'],
        items.map(({ from, kind, outcome, reason, ended }) => [
          from,
          kind,
          reason === null ? outcome : `${outcome} (${reason})`,
          ended,
        ]),
        'No operation ended in this time.',
      ),
  }),
  askCommand({
    name: 'operations failed',
    takes: '',
    summary: 'Lists the failed operations that nobody has retried or discarded, newest first.',
    options: {
      kind: { type: 'string', value: 'KIND', doc: 'of this kind only' },
      ...DATES,
      ...PAGE,
    },
    endpoint: listFailedOperationsEndpoint,
    input: ({ options }) => options,
    print: ({ items, next }) => table(items, 'No operation has failed.') + more(next),
  }),
  askCommand({
    name: 'operations',
    takes: 'TYPE:ID',
    summary: `Lists the operations of a subject, newest first: queued, running and ended ones.
Subjects are repository:OWNER/NAME, worker:NAME, app:ID, schedule:SWEEP and others.`,
    options: {
      detail: { type: 'boolean', doc: 'all of each: its output, and its failed runs' },
      ...PAGE,
    },
    endpoint: listOperationsEndpoint,
    input: (given) => ({
      ...given.options,
      subject: oneWord(given, 'subject'),
      detail: given.options['detail'] === true ? 'true' : undefined,
    }),
    print: ({ items, next }) =>
      (items.some(({ output }) => output !== undefined)
        ? asYaml(items)
        : table(items, 'There is no operation of this subject.')) + more(next),
  }),
  askCommand({
    name: 'operation',
    takes: 'ID',
    summary: 'Shows one operation: where it stands, what it did or why it failed.',
    endpoint: findOperationEndpoint,
    input: (given) => ({ operation: oneWord(given, 'id') }),
    print: ({ output, askers, failures, ...row }) =>
      [
        table([row], ''),
        ...(output === null ? [] : [`\n${stringify(output)}`]),
        ...(failures.length === 0 ? [] : ['\n', failedRuns(failures)]),
        ...(row.handled === null ? [] : [handledBy(row.handled)]),
        ...(askers.length === 0 ? [] : [`\nasked for by: ${people(askers)}\n`]),
      ].join(''),
  }),
];
