import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, At, Chip, Thing, Until } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { type Column, column, figure, Table, wide } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { count, plain } from '../text/words.ts';

const FILTERS = [
  { name: 'state', label: 'State', of: ['waiting', 'given-up'] },
  { name: 'installation', label: 'Installation', hint: 'id' },
  { name: 'repository', label: 'Repository', hint: 'id' },
  { name: 'code', label: 'GitHub got', hint: '502, 0: no answer' },
  ...DATES,
];

export const Redeliveries = ({ query }: ViewProps) => (
  <ListView<Item<'listRedeliveries'>>
    title="Redeliveries"
    path="/redeliveries"
    query={query}
    filters={FILTERS}
    columns={COLUMNS}
    keyOf={({ app, guid, eventId }) => eventId ?? `${app} ${guid}`}
    none="Every delivery that GitHub tells of has arrived."
    tables={['installation_events']}
  >
    <Act
      label="Redeliver since …"
      method="POST"
      path="/sweeps/redeliver/run"
      fields={[
        { name: 'app', label: 'App’s id', isRequired: true },
        { name: 'since', label: 'Since: 2026-01-31, an instant, or -24h', isRequired: true },
      ]}
      inBody={['app', 'since']}
    >
      Has GitHub repeat all deliveries since then that Paddock lacks, also those that GitHub calls
      delivered.
    </Act>
  </ListView>
);

const codeOf = ({ lastStatusCode }: Pick<Item<'listRedeliveries'>, 'lastStatusCode'>): string =>
  lastStatusCode === 0 ? 'no answer' : `answer ${lastStatusCode}`;

const COLUMNS: readonly Column<Item<'listRedeliveries'>>[] = [
  wide('Delivery', ({ event, guid }) => (
    <>
      {event} <Thing kind="delivery" id={guid} />
    </>
  )),
  column('GitHub got', (row) => <Chip of={codeOf(row)} tone="bad" />),
  figure('Installation', ({ installation }) => <Thing kind="installation" id={installation} />),
  figure('App', ({ app }) => app),
  figure('Failed first', ({ firstFailedAt }) => <Ago at={firstFailedAt} />),
  figure('Asked', ({ requests }) => `${requests} ×`),
  figure('Next', ({ nextRequestAt, eventId, givenUpAt }) =>
    nextRequestAt === null ? (
      <>
        <Thing kind="event" id={eventId} as="given up" /> {givenUpAt && <Ago at={givenUpAt} />}
      </>
    ) : (
      <Until at={nextRequestAt} />
    ),
  ),
];

export const Delivery = ({ fields: { delivery: guid = '' } }: ViewProps) => (
  <View<AnswerOf<'findDelivery'>>
    path={at`/deliveries/${guid}`}
    tables={['installation_events']}
    title={`Delivery ${guid}`}
    beside={(_, again) => (
      <Act label="Redeliver …" method="POST" path={at`/deliveries/${guid}/redeliver`} again={again}>
        Has GitHub repeat this delivery, which it can for three days.
      </Act>
    )}
  >
    {({ events, unresolved }) => (
      <>
        {unresolved.map((failed) => (
          <p class="trouble" key={failed.app}>
            <strong>It did not arrive</strong>: {codeOf(failed)}, to the App {failed.app}, last{' '}
            <Ago at={failed.lastFailedAt} />. Paddock has asked for it{' '}
            {failed.requests === 0 ? 'not yet' : count(failed.requests, 'time')}, and asks next{' '}
            {failed.nextRequestAt && <Until at={failed.nextRequestAt} />}.
          </p>
        ))}
        <Table
          caption="Each time that it came"
          columns={EVENTS}
          rows={events}
          none="It has not come yet."
        />
      </>
    )}
  </View>
);

const EVENTS: readonly Column<AnswerOf<'findDelivery'>['events'][number]>[] = [
  column('Received', ({ receivedAt }) => <At at={receivedAt} />),
  column('Event', ({ id, event }) => <Thing kind="event" id={id} as={event} />),
  column('Outcome', ({ outcome }) => plain(outcome)),
  wide('Meaning', ({ meaning }) => meaning),
  column('Job', ({ job }) => <Thing kind="job" id={job} />),
  figure('Installation', ({ installation }) => <Thing kind="installation" id={installation} />),
];
