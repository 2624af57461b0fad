import { DELETING_SWEEPS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { tellAction, tellSwitch } from '@paddock/domain/text/tell-action';
import { duration } from '@paddock/domain/text/duration';
import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Copy } from '../parts/copy.tsx';
import { Ago, At, Chip, Link, Sentence, Thing } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { column, type Column, figure, wide } from '../parts/table.tsx';
import { at, type ViewProps } from '../paths.ts';
import { count } from '../text/words.ts';
import { Resume } from './hindrances.tsx';

export const Actions = ({ query }: ViewProps) => (
  <ListView<Item<'listActions'>>
    title="Actions"
    path="/actions"
    query={query}
    filters={[{ name: 'person', label: 'Person', hint: 'ada, token ci' }, ...DATES]}
    columns={ACTIONS}
    keyOf={({ id }) => id}
    none="Nobody has done anything yet."
    tables={['actions']}
  />
);

const ACTIONS: readonly Column<Item<'listActions'>>[] = [
  column('At', (row) => <At at={row.at} />),
  wide('What', (action) => (
    <>
      <Link to={at`/actions?person=${action.person}`}>{action.person}</Link>{' '}
      <Sentence of={tellAction(action)} />
      {action.note !== null && <span class="quiet">: {action.note}</span>}
    </>
  )),
  column('Operation', ({ operation }) => (
    <Thing kind="operation" id={operation} as="its operation" />
  )),
  column('In', ({ from }) => (from === 'api' ? 'the console' : 'a terminal')),
  figure('Ago', (row) => <Ago at={row.at} />),
];

export const Switches = ({ query }: ViewProps) => (
  <ListView<Item<'listSwitches'>>
    title="Switches"
    path="/switches"
    query={query}
    columns={SWITCHES}
    keyOf={({ subject }) => subject}
    none="Nobody holds anything back."
    tables={['switches']}
    act={({ subject, name }, again) => (
      <Resume subject={name === null ? subject : `entity:${name}`} again={again} />
    )}
  >
    <Act
      label="Stop making …"
      method="POST"
      path={({ subject = '' }) => at`/switches/${subject}/pause`}
      fields={[
        {
          name: 'subject',
          label: 'Where: environment (everywhere), pool:NAME or entity:LOGIN',
          isRequired: true,
        },
      ]}
      isGrave
    >
      Stops the making of workers there at once. Workers that are there go on.
    </Act>
    <Act
      label="Pause a sweep …"
      method="POST"
      path={({ sweep = '' }) => at`/switches/${sweep}/pause`}
      fields={[{ name: 'sweep', label: 'Sweep', of: ['sweeps', ...SWEEPS], isRequired: true }]}
    >
      Pauses a sweep of the reconciler, or all. A pass that runs ends within seconds.
    </Act>
  </ListView>
);

const SWITCHES: readonly Column<Item<'listSwitches'>>[] = [
  wide('Held back', ({ subject, name }) => <Sentence of={tellSwitch(subject, name)} />),
  wide('Note', ({ note }) => note ?? ''),
  column('By', ({ by }) => by),
  figure('Since', ({ since }) => <Ago at={since} />),
];

export const Sweeps = ({ query }: ViewProps) => (
  <ListView<Item<'listSweeps'>>
    title="Sweeps"
    path="/sweeps"
    query={query}
    columns={SWEEP_COLUMNS}
    keyOf={({ name }) => name}
    none="The reconciler has not begun yet."
    tables={['operations', 'switches']}
    act={({ name }, again) => {
      const [sweep = '', app] = name.split(':');
      return (
        <Act
          label="Run …"
          method="POST"
          path={at`/sweeps/${sweep}/run`}
          {...(app !== undefined && { body: { app: Number(app) } })}
          hasDryRun={DELETING_SWEEPS.has(sweep)}
          again={again}
        >
          Runs the sweep {name} now. The operation’s output is its counts.
        </Act>
      );
    }}
  />
);

const SWEEP_COLUMNS: readonly Column<Item<'listSweeps'>>[] = [
  column('Sweep', ({ name }) => (
    <Link to={at`/operations?kind=${name.split(':')[0] ?? ''}`}>{name}</Link>
  )),
  figure('Succeeded', ({ succeededAt }) => <Ago at={succeededAt} />),
  column(
    'Last run',
    ({ lastRun }) =>
      lastRun && (
        <Link to={at`/operations/${lastRun.operation}`}>
          <Chip of={lastRun.status} /> <Ago at={lastRun.endedAt} />, {duration(lastRun.tookMs)} long
        </Link>
      ),
  ),
  wide('Could not reach', ({ pausedBy, unreached, failing, lastRun }) => (
    <>
      {pausedBy !== null && <Link to="/switches">paused by {pausedBy}</Link>}{' '}
      {[...unreached, ...failing, lastRun?.message].filter(Boolean).join(', ')}
    </>
  )),
];

export const Tokens = ({ query }: ViewProps) => (
  <ListView<Item<'listTokens'>>
    title="Tokens"
    path="/tokens"
    query={query}
    columns={TOKENS}
    keyOf={({ name }) => name}
    none="There is none."
    tables={['tokens']}
    act={({ name, revokedAt }, again) =>
      revokedAt === null && (
        <Act label="Revoke …" method="DELETE" path={at`/tokens/${name}`} again={again} isGrave>
          Refuses the token {name} from the next request on, and ends its sessions. Its name stays
          taken.
        </Act>
      )
    }
  >
    <Act
      label="New token …"
      method="POST"
      path="/tokens"
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'access', label: 'Access', of: ['read', 'operate'], isRequired: true },
      ]}
      inBody={['name', 'access']}
      shown={({ name, token }: AnswerOf<'createToken'>) => (
        <>
          <p>The token {name}. Only this answer shows it:</p>
          <pre tabIndex={0}>{token}</pre>
          <Copy text={token} />
        </>
      )}
    >
      Makes a token with which a program or a person may ask, or ask and act.
    </Act>
    <Act
      label="Sign a person out …"
      method="DELETE"
      path={({ person = '' }) => at`/sessions/${person}`}
      fields={[
        { name: 'person', label: 'Person, as the identity provider names them', isRequired: true },
      ]}
      shown={({ person, ended }: AnswerOf<'endSessions'>) => (
        <p>
          {count(ended, 'session')} of {person} ended.
        </p>
      )}
      isGrave
    >
      Ends all sessions of a person who signed in by the identity provider. The person may sign in
      again while the groups allow it.
    </Act>
  </ListView>
);

const TOKENS: readonly Column<Item<'listTokens'>>[] = [
  column('Name', ({ name }) => name),
  column('State', ({ revokedAt }) => <Chip of={revokedAt === null ? 'good' : 'revoked'} />),
  wide('Access', ({ access, narrowedTo }) =>
    narrowedTo === null
      ? access
      : `${narrowedTo.endpoint} of ${Object.values(narrowedTo.subject).join(' ')}`,
  ),
  figure('Last used', ({ lastUsedAt }) =>
    lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />,
  ),
  column('Made by', ({ createdBy }) => createdBy),
  figure('Made', ({ createdAt }) => <Ago at={createdAt} />),
];
