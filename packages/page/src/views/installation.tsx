import type { OneInstallation } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Chip } from '../parts/chip.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, At } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import type { ViewProps } from './view.ts';

const TONES = { installed: 'good', suspended: 'wait', deleted: 'over' } as const;

/** What an installation is, and what GitHub said of it. */
export function Installation({ fields: { installation: id = '' } }: ViewProps) {
  const path = `/installations/${encodeURIComponent(id)}`;
  const shown = useAnswer<OneInstallation>(path, ['installation_events', 'installations']);
  const { answer } = shown;
  return (
    <>
      <Heading title={`${answer?.entity?.login ?? ''} installation ${id}`.trim()}>
        {answer?.today && <Chip tone={TONES[answer.today.state]}>{answer.today.state}</Chip>}
        {answer && (
          <Act label="Resync …" method="POST" path={`${path}/resync`} again={shown.again}>
            Compares the runs of its active repositories at GitHub with our jobs, each by an
            operation of its own.
          </Act>
        )}
      </Heading>
      <Answer of={shown}>
        {({ installation, entity, today, events }) => (
          <>
            <Facts
              of={{
                'So since': today?.since && <Ago at={today.since} />,
                Entity: entity && (
                  <Link to={`/trace/entity/${entity.id}`}>{entity.login ?? entity.id}</Link>
                ),
                App: today?.app,
                Repositories: today && (today.repositories ?? 'unknown'),
                'What happened': <Link to={`/trace/installation/${installation}`}>its trace</Link>,
                Tasks: (
                  <Link to={`/operations?subject=installation:${installation}`}>
                    its operations
                  </Link>
                ),
              }}
            />
            <h2>What GitHub said of it</h2>
            <Table
              caption="Deliveries about the installation"
              columns={COLUMNS}
              rows={events}
              keyOf={({ id: event }) => event}
              none="No delivery says anything of it."
            />
          </>
        )}
      </Answer>
    </>
  );
}

const COLUMNS: readonly Column<OneInstallation['events'][number]>[] = [
  { name: 'At', of: ({ at }) => <At at={at} /> },
  {
    name: 'Event',
    isWide: true,
    of: ({ id, event }) => <Link to={`/trace/payload/${id}`}>{event}</Link>,
  },
  { name: 'Ago', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
