import {
  listGivenUpEndpoint,
  listRedeliveriesEndpoint,
} from '@paddock/api/deliveries/list-redeliveries';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, more } from './list-options.ts';

export const redeliveriesCommands: readonly Command[] = [
  askCommand({
    name: 'redeliveries given-up',
    takes: '',
    summary: 'Lists the deliveries that GitHub can no longer repeat, the newest first.',
    options: { ...DATES, ...PAGE },
    endpoint: listGivenUpEndpoint,
    input: (given) => given.options,
    print: ({ items, next }) =>
      columns(
        [
          'GIVEN UP',
          'APP',
          'EVENT',
          'INSTALLATION',
          'REPOSITORY',
          'FAILED FIRST',
          'CODE',
          'EVENT ID',
        ],
        items.map((row) => [
          row.givenUpAt,
          row.app,
          row.event,
          row.installation,
          row.repository,
          row.firstFailedAt,
          row.lastStatusCode,
          row.eventId,
        ]),
        'No delivery was given up.',
      ) + more(next),
  }),
  askCommand({
    name: 'redeliveries',
    takes: '',
    summary: 'Lists the deliveries that failed and that Paddock goes on asking for.',
    options: PAGE,
    endpoint: listRedeliveriesEndpoint,
    input: (given) => given.options,
    print: ({ items, next }) =>
      columns(
        [
          'APP',
          'EVENT',
          'INSTALLATION',
          'REPOSITORY',
          'FAILED FIRST',
          'CODE',
          'ASKED',
          'NEXT',
          'GUID',
        ],
        items.map((row) => [
          row.app,
          row.event,
          row.installation,
          row.repository,
          row.firstFailedAt,
          row.missingHere ? 'missing here' : row.lastStatusCode,
          row.requests,
          row.nextRequestAt,
          row.guid,
        ]),
        'Every delivery has arrived, or was given up.',
      ) + more(next),
  }),
];
