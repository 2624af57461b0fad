import type { FailedDelivery, GivenUpDelivery, UnresolvedDelivery } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Chip } from '../parts/chip.tsx';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago, Until } from '../parts/time.tsx';
import type { ViewProps } from './view.ts';

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
    <Tabs of="/redeliveries" />
    <Act
      label="Redeliver since …"
      method="POST"
      path={() => '/sweeps/redeliver/run'}
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
    filters={[
      { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
      { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
    ]}
    columns={GIVEN_UP}
    keyOf={({ eventId }) => eventId}
    none="None was given up."
    tables={['installation_events']}
  >
    <Tabs of="/redeliveries/given-up" />
  </ListView>
);

const Tabs = ({ of }: { of: string }) => (
  <nav class="tabs" aria-label="Redeliveries">
    {[
      ['/redeliveries', 'Asked for again'] as const,
      ['/redeliveries/given-up', 'Given up'] as const,
    ].map(([to, name]) => (
      <Link key={to} to={to} {...(to === of && { 'aria-current': 'page' })}>
        {name}
      </Link>
    ))}
  </nav>
);

/** How GitHub saw our answer. */
export const codeOf = ({ lastStatusCode }: Pick<FailedDelivery, 'lastStatusCode'>): string =>
  lastStatusCode === 0 ? 'no answer' : `answer ${lastStatusCode}`;

const COLUMNS: readonly Column<FailedDelivery>[] = [
  {
    name: 'Delivery',
    isWide: true,
    of: ({ event, guid }) => (
      <>
        {event}{' '}
        {guid !== null && (
          <Link to={`/deliveries/${encodeURIComponent(guid)}`} class="mono">
            {guid}
          </Link>
        )}
      </>
    ),
  },
  { name: 'GitHub got', of: (row) => <Chip tone="bad">{codeOf(row)}</Chip> },
  {
    name: 'Installation',
    isNumber: true,
    of: ({ installation }) =>
      installation === null ? (
        ''
      ) : (
        <Link to={`/installations/${installation}`}>{installation}</Link>
      ),
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
    of: ({ eventId, givenUpAt }) => (
      <Link to={`/trace/payload/${eventId}`}>
        <Ago at={givenUpAt} />
      </Link>
    ),
  },
];
