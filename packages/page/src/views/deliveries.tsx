import type {
  Delivery as DeliveryAnswer,
  FailedDelivery,
  GivenUpDelivery,
  UnresolvedDelivery,
} from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, At, Chip, Thing, Until } from '../parts/inline.tsx';
import { DATES, ListView, Tabs } from '../parts/list.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { count, plain } from '../text/words.ts';

/** Deliveries that failed, and that Paddock goes on asking for. */
export const Redeliveries = ({ query }: ViewProps) => (
  <ListView<UnresolvedDelivery>
    title="Redeliveries"
    path="/redeliveries"
    query={query}
    columns={UNRESOLVED}
    keyOf={({ app, guid }) => `${app} ${guid}`}
    none="Every delivery that GitHub tells of has arrived."
    tables={['installation_events']}
  >
    <Tabs name="Redeliveries" of={TABS} here="/redeliveries" />
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

/** Deliveries that GitHub can no longer repeat. */
export const GivenUp = ({ query }: ViewProps) => (
  <ListView<GivenUpDelivery>
    title="Deliveries given up"
    path="/redeliveries/given-up"
    query={query}
    filters={DATES}
    columns={GIVEN_UP}
    keyOf={({ eventId }) => eventId}
    none="None was given up."
    tables={['installation_events']}
  >
    <Tabs name="Redeliveries" of={TABS} here="/redeliveries/given-up" />
  </ListView>
);

const TABS = { '/redeliveries': 'Asked for again', '/redeliveries/given-up': 'Given up' };

/** How GitHub saw our answer. */
const codeOf = ({ lastStatusCode }: Pick<FailedDelivery, 'lastStatusCode'>): string =>
  lastStatusCode === 0 ? 'no answer' : `answer ${lastStatusCode}`;

const COLUMNS: readonly Column<FailedDelivery>[] = [
  {
    name: 'Delivery',
    isWide: true,
    of: ({ event, guid }) => (
      <>
        {event} <Thing kind="delivery" id={guid} />
      </>
    ),
  },
  { name: 'GitHub got', of: (row) => <Chip of={codeOf(row)} tone="bad" /> },
  {
    name: 'Installation',
    isNumber: true,
    of: ({ installation }) => <Thing kind="installation" id={installation} />,
  },
  { name: 'App', isNumber: true, of: ({ app }) => app },
  { name: 'Failed first', isNumber: true, of: ({ firstFailedAt }) => <Ago at={firstFailedAt} /> },
  { name: 'Asked', isNumber: true, of: ({ requests }) => `${requests} ×` },
];

const UNRESOLVED: readonly Column<UnresolvedDelivery>[] = [
  ...COLUMNS,
  { name: 'Asks again', isNumber: true, of: ({ nextRequestAt }) => <Until at={nextRequestAt} /> },
];

const GIVEN_UP: readonly Column<GivenUpDelivery>[] = [
  ...COLUMNS,
  {
    name: 'Given up',
    isNumber: true,
    of: ({ eventId, givenUpAt }) => <Thing kind="event" id={eventId} as={<Ago at={givenUpAt} />} />,
  },
];

/** One delivery: what became of it each time, and whether Paddock asks for it again. */
export const Delivery = ({ fields: { delivery: guid = '' } }: ViewProps) => (
  <View<DeliveryAnswer>
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
            <Until at={failed.nextRequestAt} />.
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

const EVENTS: readonly Column<DeliveryAnswer['events'][number]>[] = [
  { name: 'Received', of: ({ receivedAt }) => <At at={receivedAt} /> },
  {
    name: 'Event',
    of: ({ id, event }) => <Thing kind="event" id={id} as={event} />,
  },
  { name: 'Outcome', of: ({ outcome }) => plain(outcome) },
  { name: 'Meaning', isWide: true, of: ({ meaning }) => meaning },
  { name: 'Job', of: ({ job }) => <Thing kind="job" id={job} /> },
  {
    name: 'Installation',
    isNumber: true,
    of: ({ installation }) => <Thing kind="installation" id={installation} />,
  },
];
