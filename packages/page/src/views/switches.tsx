import { REDELIVER, SCHEDULED_SWEEPS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import type { Stop } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import { resumePath } from './switches.ts';
import type { ViewProps } from './view.ts';

/** What people hold back now, and what they may set off. */
export const Switches = ({ query }: ViewProps) => (
  <ListView<Stop>
    title="Switches"
    path="/stops"
    query={query}
    columns={COLUMNS}
    keyOf={({ what, subject }) => `${what} ${subject}`}
    none="Nobody holds anything back."
    tables={['stopped_making', 'paused_sweeps']}
    more={acts}
  >
    <Act
      label="Stop making …"
      method="PUT"
      path={({ subject = '' }) => `/stops/${encodeURIComponent(subject)}`}
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
      path={({ sweep = '' }) => `/paused-sweeps/${encodeURIComponent(sweep)}`}
      fields={[{ name: 'sweep', label: 'Sweep', of: ['all', ...SWEEPS] }]}
    >
      Pauses a sweep of the reconciler. A pass that runs ends within seconds.
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

const COLUMNS: readonly Column<Stop>[] = [
  { name: 'Held back', of: ({ what, subject, name }) => `${what} of ${name ?? subject}` },
  { name: 'Note', isWide: true, of: ({ note }) => note ?? '' },
  { name: 'By', of: ({ by }) => by },
  { name: 'Since', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];

const acts = (again: () => void): readonly Column<Stop>[] => [
  {
    name: 'Act',
    of: (stop) => (
      <Act
        label="Resume …"
        method={stop.what === 'resync' ? 'PUT' : 'DELETE'}
        path={resumePath(stop)}
        again={again}
        {...(stop.what === 'resync' && { body: { enabled: true } })}
      >
        Lets it go on: {stop.what} of {stop.name ?? stop.subject}.
      </Act>
    ),
  },
];
