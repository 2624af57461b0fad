import type { InstallationState as StateAnswer } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Chip } from '../parts/chip.tsx';
import { Facts } from '../parts/facts.tsx';
import { Filters } from '../parts/filters.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, At } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { count } from '../text/words.ts';
import type { ViewProps } from './view.ts';

const TONES = { installed: 'good', suspended: 'wait', deleted: 'over', unknown: 'wait' } as const;

/** What an installation was at a time, and what happened to it. */
export function Installation({ fields: { installation: id = '' }, query }: ViewProps) {
  const path = `/installations/${encodeURIComponent(id)}`;
  const shown = useAnswer<StateAnswer>(`${path}/state?${query.toString()}`, [
    'installation_events',
    'installations',
  ]);
  const { answer } = shown;
  return (
    <>
      <Heading title={`${answer?.login ?? answer?.entity?.login ?? ''} installation ${id}`.trim()}>
        {answer && <Chip tone={TONES[answer.status]}>{answer.status}</Chip>}
        {answer && (
          <Act label="Resync …" method="POST" path={`${path}/resync`} again={shown.again}>
            Compares the runs of its active repositories at GitHub with our jobs, each by an
            operation of its own.
          </Act>
        )}
      </Heading>
      <Filters
        path={path}
        query={query}
        filters={[{ name: 'at', label: 'As it was at', hint: '2026-01-31, -7d' }]}
      />
      <Answer of={shown}>{(state) => <State state={state} />}</Answer>
    </>
  );
}

function State({ state }: { state: StateAnswer }) {
  const { entity, login, repositories, events, since } = state;
  const { selection, isComplete, names, removed } = repositories;
  return (
    <>
      <Facts
        of={{
          'As it was at': <At at={state.at} />,
          'So since': since && <Ago at={since} />,
          Login: login,
          Entity: entity && (
            <Link to={`/trace/entity/${entity.id}`}>{entity.login ?? entity.id}</Link>
          ),
          Repositories:
            selection === 'all' ? 'all' : said(selection, repositories.count, isComplete),
          'What happened': <Link to={`/trace/installation/${state.installation}`}>its trace</Link>,
          Tasks: (
            <Link to={`/operations?subject=installation:${state.installation}`}>
              its operations
            </Link>
          ),
        }}
      />
      <Names title="Repositories" of={names} />
      <Names title="Selected before" of={removed} />
      <h2>What GitHub said of it</h2>
      <Table
        caption="Deliveries about the installation"
        columns={COLUMNS}
        rows={events}
        keyOf={({ id }) => id}
        none="No delivery up to then says anything of it."
      />
    </>
  );
}

const said = (selection: string | null, many: number, isComplete: boolean): string =>
  selection === null && many === 0
    ? 'unknown'
    : `${count(many, 'selected one')}${isComplete ? '' : ' that we know of; there may be others'}`;

const Names = ({ title, of }: { title: string; of: readonly string[] }) =>
  of.length === 0 ? null : (
    <>
      <h2>{title}</h2>
      <ul class="names">
        {of.map((name) => (
          <li key={name}>
            <Link to={`/jobs?repository=${encodeURIComponent(name)}`}>{name}</Link>
          </li>
        ))}
      </ul>
    </>
  );

const COLUMNS: readonly Column<StateAnswer['events'][number]>[] = [
  { name: 'At', of: ({ at }) => <At at={at} /> },
  {
    name: 'Event',
    isWide: true,
    of: ({ id, event }) => <Link to={`/trace/payload/${id}`}>{event}</Link>,
  },
  { name: 'Ago', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
