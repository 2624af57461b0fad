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
}

export type Told = readonly (string | Acted)[];

type Subject = Readonly<Record<string, string | number>>;

/** What a switch holds back: its subject is as `pool:gpu` or `discover-jobs:acme/api`. */
export function tellSwitch(subject: string): Told {
  const [kind = '', ...rest] = subject.split(':');
  const id = rest.join(':');
  if (subject === 'environment') return ['the making of all workers'];
  if (subject === 'sweeps') return ['all sweeps'];
  if (kind === 'pool') return ['the making of workers of the pool ', { kind: 'pool', id }];
  if (kind === 'entity') return ['the making of workers for ', { kind: 'entity', id }];
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
const TELLS: Readonly<Record<string, (of: Subject) => Told>> = {
  turnSwitch: ({ subject, how }) => [
    how === 'pause' ? 'stopped ' : 'let go on ',
    ...tellSwitch(String(subject)),
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

/** What a person did, to follow the person's name; an endpoint of another version stands for itself. */
export function tellAction(endpoint: string, subject: Subject): Told {
  const told = TELLS[endpoint]?.(subject).filter((part) => part !== '');
  return told ?? [[endpoint, ...Object.values(subject)].join(' ')];
}

export const textOf = (told: Told): string =>
  told.map((part) => (typeof part === 'string' ? part : part.id)).join('');
