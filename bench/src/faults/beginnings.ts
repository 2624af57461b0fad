import { setTimeout as sleep } from 'node:timers/promises';
import type { Tunnel } from '@paddock/testing/tunnel';
import { sql } from 'kysely';
import { WEBHOOK_SECRET } from './environment.ts';
import type { Beginning, Progress } from './fault.ts';
import type { Service } from './service.ts';
import { DOTFILES, GARDEN, type Stage } from './stage.ts';

/** From one share of the queued jobs to another. */
export type Window = readonly [from: number, to: number];
export const FIRST_THIRD: Window = [0, 1 / 3];
export const MIDDLE: Window = [1 / 3, 2 / 3];
export const WHOLE: Window = [0, 1];

/** Something that is so within a window only; from its beginning on, it is so before the first job is queued. */
const within = (window: Window, start: (stage: Stage) => Promise<unknown>, end: (stage: Stage) => Promise<unknown>): Beginning => {
  const [from, to] = window;
  return async (stage, progress) => {
    if (from === 0) await start(stage);
    return async () => {
      if (from > 0) {
        await progress.reached(from);
        await start(stage);
      }
      await progress.reached(to);
      const ended = end(stage);
      // Deliveries that come once ingress is back tell it that some were missed: a slow start must not take all of them.
      progress.holdUp(ended);
      await ended;
      progress.over();
    };
  };
};

const forEach = async ({ environments }: Stage, act: (environment: Stage['environments'][number]) => Promise<unknown>) =>
  void (await Promise.all(environments.map(act)));

const during =
  (act: (stage: Stage, progress: Progress) => Promise<void>): Beginning =>
  (stage, progress) =>
    Promise.resolve(() => act(stage, progress));

export const ingressDown = (window: Window): Beginning =>
  within(
    window,
    (stage) => forEach(stage, ({ ingress }) => ingress.kill()),
    (stage) => forEach(stage, ({ ingress }) => ingress.start()),
  );

const signWith = (webhookSecret: string) => (stage: Stage) => forEach(stage, ({ appId }) => stage.github.setApp(appId, { webhookSecret }));

export const wrongSecret = (window: Window): Beginning => within(window, signWith('not what ingress expects'), signWith(WEBHOOK_SECRET));

/** So many calls fail that the window ends before them. */
const ALL = 1_000_000;

/** What GitHub does not answer at all, for a third of the run. */
export const githubHangs: Beginning = within(
  MIDDLE,
  ({ github }) => github.failNext({ path: '', times: ALL, hang: true }),
  ({ github }) => github.clearCallFaults(),
);

/** The API server takes calls and answers none; watches that are open go on. */
export const apiServerHangs: Beginning = within(
  MIDDLE,
  ({ cluster }) => cluster.failNext({ times: ALL, hang: true }),
  ({ cluster }) => cluster.clearFaults(),
);

/** 500, then 403 as for too many calls, then 429, each for a third of the middle of the run, and until somebody has met it. */
export const githubRefuses = during(async (stage, progress) => {
  const kinds = [
    { status: 500 },
    { status: 403, headers: { 'retry-after': '2' }, body: { message: 'You have exceeded a secondary rate limit.' } },
    { status: 429, headers: { 'retry-after': '2' }, body: { message: 'Too many requests.' } },
  ];
  try {
    for (const [index, kind] of kinds.entries()) {
      await progress.reached((3 + index) / 9);
      await stage.github.clearCallFaults();
      await stage.github.failNext({ path: '', times: ALL, ...kind });
      const isMet = async () => ((await stage.github.report()).struck[`call_failed_${kind.status}`] ?? 0) > 0;
      await until(isMet, `Nobody has called GitHub while it answered ${kind.status}.`);
    }
    await progress.reached(2 / 3);
  } finally {
    await stage.github.clearCallFaults();
    progress.over();
  }
});

/**
 * All that is asked of one repository is refused until the other one of its entity has run all of its jobs, and until so many refusals have
 * come that somebody waits for them: that must be the repository alone.
 */
export const repositoryRefuses: Beginning = async ({ github, environments }, progress) => {
  const body = { message: 'Resource not accessible by integration' };
  await github.failNext({ path: `^/repos/${DOTFILES}/`, status: 403, body, times: ALL });
  return async () => {
    await progress.reached(1);
    try {
      await until(() => isServed(github, GARDEN), `${GARDEN} is not served beside ${DOTFILES}, which refuses us.`);
      const findHeld = async () => (await Promise.all(environments.map(({ db }) => heldBack(db)))).flat();
      await until(async () => (await findHeld()).length > 0, `Nothing is held back although ${DOTFILES} refuses us.`);
      const others = (await findHeld()).filter(({ type }) => type !== 'repository');
      if (others.length > 0) throw new Error(`Held back because ${DOTFILES} refuses us: ${others.map(({ type }) => type).join(', ')}`);
    } finally {
      await github.clearCallFaults();
      progress.over();
    }
  };
};

const isServed = async (github: Stage['github'], repository: string): Promise<boolean> =>
  (await github.truth()).jobs.every(({ repo, status }) => repo !== repository || status === 'completed');

const heldBack = (db: Stage['environments'][number]['db']): Promise<{ type: string }[]> =>
  db.selectFrom('breakers').select('subject_type as type').where('pauses', '>', 0).execute();

/** Nobody looks for jobs until as many have run as GitHub told of; whoever is left then is looked for. */
export const unlookedFor = during(async ({ github, environments }, progress) => {
  await progress.reached(1);
  const areToldRun = async (): Promise<boolean> => {
    const { jobs, completed, struck } = await github.report();
    return completed >= jobs - (struck.event_never_sent ?? 0);
  };
  try {
    await until(areToldRun, 'There are jobs that we were told of and that have not run.');
  } finally {
    for (const { db } of environments) await sql`delete from paused_sweeps`.execute(db);
  }
});

const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 500;

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Until somebody has met it: services that are killed meanwhile take their time to come back. */
export const apiServerAway = within(
  MIDDLE,
  async ({ cluster }) => {
    await cluster.failNext({ times: ALL });
    await cluster.cutWatches();
  },
  async ({ cluster }) => {
    const isMet = async () => ((await cluster.report()).struck.call_failed ?? 0) > 0;
    try {
      await until(isMet, 'Nobody has called the API server while it was away.');
    } finally {
      await cluster.clearFaults();
    }
  },
);

/** Twice, and the second time it stays away for a while. */
export const postgresRestarts = during(async (stage, progress) => {
  for (const [share, awayMs] of [
    [1 / 3, 0],
    [2 / 3, progress.lastsMs / 6],
  ] as const) {
    await progress.reached(share);
    await stage.postgres.halt({ mode: 'immediate' });
    await sleep(awayMs);
    await stage.postgres.resume();
    progress.over();
  }
});

/** Longer than a lease of these services, of a task or of a row. */
const SILENT_MS = 12_000;
/** A service says after 3 s that it is not ready. Statements are given up after 35 s: one that says so only then does not watch PostgreSQL. */
const COMPLAIN_WITHIN_MS = 25_000;

/** From a third of the jobs on, what is sent stays on its way, and no connection is closed, until `end`. */
export const postgresSilent = (end: (tunnel: Tunnel) => void): Beginning =>
  during(async ({ tunnel, environments }, progress) => {
    if (tunnel === undefined) throw new Error('This stage has no tunnel between its services and PostgreSQL.');
    await progress.reached(1 / 3);
    tunnel.setHeld(true);
    const complaints = environments.flatMap(({ services }) => services.map(untilComplained));
    try {
      await Promise.all([...complaints, sleep(SILENT_MS)]);
    } finally {
      end(tunnel);
      progress.over();
    }
  });

const untilComplained = ({ name, untilUnready }: Service): Promise<void> =>
  Promise.race([
    untilUnready(),
    sleep(COMPLAIN_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`The ${name} has called itself ready for ${COMPLAIN_WITHIN_MS / 1_000} s without PostgreSQL.`);
    }),
  ]);

/** What was sent arrives late, after its senders have given up. */
export const heardAgain = (tunnel: Tunnel) => tunnel.setHeld(false);

/** What was sent never arrives, and what was open stays silent for ever. */
export const replaced = (tunnel: Tunnel) => {
  tunnel.replaceServer();
  tunnel.setHeld(false);
};

/** How long a service works before it is killed again, and how often each is killed at least, however slowly they start. */
const BETWEEN_KILLS_MS = 3_000;
export const KILLS_OF_EACH = 3;

/**
 * Each service for itself, so that any of them may be away while another is; the scheduler as soon as it makes a worker. What a killed one was
 * at is to go on from that moment.
 */
export const servicesKilled = ([from, to]: Window): Beginning =>
  during(async ({ environments }, progress) => {
    await progress.reached(from);
    const killAgainAndAgain = async (service: Service, untilAtWork: () => Promise<void>): Promise<void> => {
      for (let kills = 0; kills < KILLS_OF_EACH || progress.share() < to; kills++) {
        await sleep(BETWEEN_KILLS_MS);
        await untilAtWork();
        await service.kill();
        progress.over();
        await service.start();
      }
    };
    const killAll = ({ services, scheduler, db }: Stage['environments'][number]) =>
      services.map((each) => killAgainAndAgain(each, each === scheduler ? () => untilWorkerIsMade(db) : () => Promise.resolve()));
    await Promise.all(environments.flatMap(killAll));
  });

/** Resolves while a task that makes a worker is at work, or after a while without any. */
async function untilWorkerIsMade(db: Stage['environments'][number]['db']): Promise<void> {
  const deadline = performance.now() + BETWEEN_KILLS_MS;
  while (performance.now() < deadline && !(await isWorkerMade(db))) await sleep(GLANCE_EVERY_MS);
}
const GLANCE_EVERY_MS = 5;

/** A database that is away tells of none. */
const isWorkerMade = (db: Stage['environments'][number]['db']): Promise<boolean> =>
  sql`select from tasks where kind = 'provision-worker' and status = 'running' limit 1`.execute(db).then(
    ({ rows }) => rows.length > 0,
    () => false,
  );
