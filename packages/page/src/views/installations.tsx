import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, At, Chip, Link, Thing, Words } from '../parts/inline.tsx';
import { ListView } from '../parts/list.tsx';
import { type Column, column, Facts, figure, Table, wide } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';

export const Installations = ({ query }: ViewProps) => (
  <ListView<Item<'listInstallations'>>
    title="Installations"
    path="/installations"
    query={query}
    columns={COLUMNS}
    keyOf={({ entity, app }) => `${entity.id} ${app}`}
    none="The App is installed nowhere that Paddock has heard of."
    tables={['installations']}
  />
);

const COLUMNS: readonly Column<Item<'listInstallations'>>[] = [
  wide('Entity', ({ entity }) => (
    <>
      <Thing kind="entity" id={entity.id} as={entity.login} />{' '}
      <span class="quiet">{entity.type === 'User' ? 'user' : 'organisation'}</span>
    </>
  )),
  column('State', ({ state }) => <Chip of={state} />),
  column('Since', ({ since }) => since && <Ago at={since} />),
  column('Repositories', ({ repositories }) => repositories ?? 'unknown'),
  figure('App', ({ app }) => app),
  figure('Installation', ({ id }) => <Thing kind="installation" id={id} />),
  figure('Entity id', ({ entity }) => entity.id),
];

export const Installation = ({ fields: { installation: id = '' } }: ViewProps) => (
  <View<AnswerOf<'findInstallation'>>
    path={at`/installations/${id}`}
    tables={['installation_events', 'installations', 'jobs', 'workers']}
    title={`installation ${id}`}
    titleOf={({ entity }) => `${entity?.login ?? ''} installation ${id}`.trim()}
    beside={({ today }, again) => (
      <>
        {today && <Chip of={today.state} />}
        <Act label="Resync …" method="POST" path={at`/installations/${id}/resync`} again={again}>
          Compares the runs of its active repositories at GitHub with our jobs, each by an operation
          of its own.
        </Act>
      </>
    )}
  >
    {({ installation, entity, today, follows, events }) => (
      <>
        {follows.map((sentence) => (
          <p class="trouble" key={sentence}>
            <Words of={sentence} />
          </p>
        ))}
        <Facts
          of={{
            'So since': today?.since && <Ago at={today.since} />,
            Entity: entity && <Thing kind="entity" id={entity.id} as={entity.login ?? entity.id} />,
            App: today?.app,
            Repositories: today && entity && (
              <Link to={at`/repositories?entity=${entity.id}`}>
                {today.repositories ?? 'unknown'}
              </Link>
            ),
            'What happened': <Link to={at`/trace/installation/${installation}`}>its trace</Link>,
            Operations: (
              <Link to={at`/operations?subject=${`installation:${installation}`}`}>
                its operations
              </Link>
            ),
          }}
        />
        <Table
          caption="What GitHub said of it"
          isPart
          columns={EVENTS}
          rows={events}
          none="No delivery says anything of it."
        />
      </>
    )}
  </View>
);

const EVENTS: readonly Column<AnswerOf<'findInstallation'>['events'][number]>[] = [
  column('At', (event) => <At at={event.at} />),
  wide('Event', ({ id, event }) => <Thing kind="event" id={id} as={event} />),
  figure('Ago', (event) => <Ago at={event.at} />),
];
