/** Something that an action was done to, and that has a page of its own. */
export interface Acted {
  readonly kind:
    | 'pool'
    | 'entity'
    | 'worker'
    | 'operation'
    | 'delivery'
    | 'installation'
    | 'repository';
  readonly id: string;
  /** What people call it, where the id is a number of GitHub's. */
  readonly name?: string | null;
}

export type Told = readonly (string | Acted)[];

type Subject = Readonly<Record<string, string | number>>;

/** What a switch holds back: its subject is as `pool:gpu` or `discover-jobs:acme/api`; `login` is an entity's. */
export function tellSwitch(subject: string, login: string | null = null): Told {
  const [kind = '', ...rest] = subject.split(':');
  const id = rest.join(':');
  if (subject === 'environment') return ['the making of all workers'];
  if (subject === 'sweeps') return ['all sweeps'];
  if (kind === 'pool') return ['the making of workers of the pool ', { kind: 'pool', id }];
  if (kind === 'entity') return ['the making of workers for ', { kind: 'entity', id, name: login }];
  if (id !== '')
    return ['resyncs of ', { kind: id.includes('/') ? 'repository' : 'installation', id }];
  return [`the sweep ${subject}`];
}

const thing =
  (did: string, kind: Acted['kind'], field: string = kind) =>
  (of: Subject): Told => [did, { kind, id: String(of[field]) }];

const handled = ({ operation, how }: Subject): Told => [
  how === 'retry' ? 'repeated the operation ' : 'discarded the operation ',
  { kind: 'operation', id: String(operation) },
];

/** What a person did, by the endpoint's name, to follow the person's own. */
const TELLS: Readonly<Record<string, (of: Subject, login: string | null) => Told>> = {
  turnSwitch: ({ subject, how }, login) => [
    how === 'pause' ? 'stopped ' : 'let go on ',
    ...tellSwitch(String(subject), login),
  ],
  tryAgain: ({ name, pool = '', kind = pool }) => [
    `had tried again what ${String(name).replaceAll('_', ' ')} held back ${kind}`.trimEnd(),
  ],
  drain: ({ of, name, dryRun }) => [
    `${dryRun === undefined ? 'drained' : 'counted what to drain in'} the ${of} `,
    { kind: of === 'pool' ? 'pool' : 'worker', id: String(name) },
  ],
  handleOperation: handled,
  handleFailedOperations: handled,
  redeliverDelivery: thing('had GitHub repeat the delivery ', 'delivery'),
  runSweep: ({ sweep, app, since, dryRun }) => [
    dryRun === undefined ? 'ran' : 'tried out',
    ` the sweep ${sweep}`,
    app === undefined ? '' : ` of the App ${app}`,
    since === undefined ? '' : ` since ${since}`,
  ],
  resyncInstallation: thing('had a resync of the installation ', 'installation'),
  resyncRepository: ({ owner, repository }) => [
    'had a resync of ',
    { kind: 'repository', id: `${owner}/${repository}` },
  ],
  createToken: (of) => [`made the token ${of['token'] ?? of['name']}`],
  revokeToken: ({ token }) => [`revoked the token ${token}`],
  endSessions: ({ person }) => [`ended the sessions of ${person}`],
};

interface Action {
  readonly endpoint: string;
  readonly subject: Subject;
  /** Of the entity that it was about. */
  readonly login: string | null;
}

/** What a person did, to follow the person's name; an endpoint of another version stands for itself. */
export function tellAction({ endpoint, subject, login }: Action): Told {
  const told = TELLS[endpoint]?.(subject, login).filter((part) => part !== '');
  return told ?? [[endpoint, ...Object.values(subject)].join(' ')];
}

export const textOf = (told: Told): string =>
  told.map((part) => (typeof part === 'string' ? part : (part.name ?? part.id))).join('');
