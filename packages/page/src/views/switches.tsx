import { REDELIVER, SCHEDULED_SWEEPS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import type { Switch } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import { switchPath } from './switches.ts';
import type { ViewProps } from './view.ts';

/** What people hold back now, and what they may set off. */
export const Switches = ({ query }: ViewProps) => (
  <ListView<Switch>
    title="Switches"
    path="/switches"
    query={query}
    columns={COLUMNS}
    keyOf={({ subject }) => subject}
    none="Nobody holds anything back."
    tables={['switches']}
    more={acts}
  >
    <Act
      label="Stop making …"
      method="PUT"
      path={({ subject }) => switchPath(subject)}
      fields={[
        { name: 'subject', label: 'environment, pool:NAME or entity:LOGIN', isRequired: true },
      ]}
      isGrave
    >
      Stops the making of workers there at once. Workers that are there go on.
    </Act>
    <Act
      label="Pause a sweep …"
      method="PUT"
      path={({ sweep }) => switchPath(sweep)}
      fields={[{ name: 'sweep', label: 'Sweep', of: ['sweeps', ...SWEEPS] }]}
    >
      Pauses a sweep of the reconciler, or all. A pass that runs ends within seconds.
    </Act>
    <Act
      label="Run a sweep …"
      method="POST"
      path={({ sweep = '' }) => `/sweeps/${encodeURIComponent(sweep)}/run`}
      fields={[{ name: 'sweep', label: 'Sweep', of: [REDELIVER, ...SCHEDULED_SWEEPS] }]}
    >
      Runs a sweep of the reconciler now. The operation’s output is its counts.
    </Act>
  </ListView>
);

const COLUMNS: readonly Column<Switch>[] = [
  {
    name: 'Held back',
    of: ({ subject, name }) => (name === null ? subject : `${subject} (${name})`),
  },
  { name: 'Note', isWide: true, of: ({ note }) => note ?? '' },
  { name: 'By', of: ({ by }) => by },
  { name: 'Since', isNumber: true, of: ({ since }) => <Ago at={since} /> },
];

const acts = (again: () => void): readonly Column<Switch>[] => [
  {
    name: 'Act',
    of: ({ subject, name }) => (
      <Act label="Resume …" method="DELETE" path={switchPath(subject)} again={again}>
        Lets it go on: {name ?? subject}.
      </Act>
    ),
  },
];
