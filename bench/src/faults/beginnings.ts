import { setTimeout as sleep } from 'node:timers/promises';
import type { Tunnel } from '@paddock/testing/tunnel';
import { saysAway } from '@paddock/db/connection/errors';
import { sql } from 'kysely';
import { WEBHOOK_SECRET } from './environment.ts';
import type { Beginning } from './fault.ts';
import type { Service } from './service.ts';
import { readSigns } from './signs.ts';
import { DOTFILES, GARDEN, type Stage } from './stage.ts';
import { during, forEach, MIDDLE, until, type Window, within } from './windows.ts';

export const ingressDown = (window: Window): Beginning =>
  within(
    window,
    (stage) => forEach(stage, ({ ingress }) => ingress.kill()),
    (stage) => forEach(stage, ({ ingress }) => ingress.start()),
  );

const signWith = (webhookSecret: string) => (stage: Stage) =>
  forEach(stage, ({ appId }) => stage.github.setApp(appId, { webhookSecret }));

export const wrongSecret = (window: Window): Beginning =>
  within(window, signWith('not what ingress expects'), signWith(WEBHOOK_SECRET));

/** More calls than one window has. */
const ALL = 1_000_000;

/**
 * The jobs of others follow once that entity has all the workers that it may have, or all its jobs
 * have run.
 */
export const oneEntityFirst = during(async (stage, progress) => {
  await progress.reached(1 / 3);
  const isFull = async (): Promise<boolean> => {
    const { jobs, completed } = await stage.github.report();
    return completed === jobs || (await readSigns(stage)).environmentsAtCap > 0;
  };
  const full = until(isFull, 'The first jobs have neither run nor filled the cap of their entity.');
  progress.holdUp(full);
  await full;
});

/** GitHub answers none of these calls, for a third of the run. */
export const githubHangs: Beginning = within(
  MIDDLE,
  ({ github }) => github.failNext({ path: '', times: ALL, hang: true }),
  ({ github }) => github.clearCallFaults(),
);

/** The API server accepts calls and answers none; open watches continue. */
export const apiServerHangs: Beginning = within(
  MIDDLE,
  ({ cluster }) => cluster.failNext({ times: ALL, hang: true }),
  ({ cluster }) => cluster.clearFaults(),
);

/**
 * 500, then 403 as for too many calls, then 429: each for a third of the middle of the run, and
 * until a service has met it.
 */
export const githubRefuses = during(async (stage, progress) => {
  const kinds = [
    { status: 500 },
    {
      status: 403,
      headers: { 'retry-after': '2' },
      body: { message: 'You have exceeded a secondary rate limit.' },
    },
    { status: 429, headers: { 'retry-after': '2' }, body: { message: 'Too many requests.' } },
  ];
  try {
    for (const [index, kind] of kinds.entries()) {
      await progress.reached((3 + index) / 9);
      await stage.github.clearCallFaults();
      await stage.github.failNext({ path: '', times: ALL, ...kind });
      const isMet = async () =>
        ((await stage.github.report()).struck[`call_failed_${kind.status}`] ?? 0) > 0;
      await until(isMet, `No service has called GitHub while it answered ${kind.status}.`);
      if (kind.headers === undefined) continue;
      await until(
        async () => (await Promise.all(stage.environments.map(hasStoredWait))).includes(true),
        `No service has stored the wait that GitHub asked for with ${kind.status}.`,
      );
    }
    await progress.reached(2 / 3);
  } finally {
    await stage.github.clearCallFaults();
    progress.over();
  }
});

/**
 * An App's or an installation's. A database that is away, as beside other faults, shows none.
 */
const hasStoredWait = ({ db }: Stage['environments'][number]): Promise<boolean> =>
  sql`
    select from apps where wait_until > now()
    union all
    select from installations where greatest(wait_until, core_wait_until, registrations_reset_at) > now()`
    .execute(db)
    .then(
      ({ rows }) => rows.length > 0,
      (error: unknown) => {
        if (saysAway(error)) return false;
        throw error;
      },
    );

/**
 * Refuses all calls about one repository until the other repository of its entity has run all its
 * jobs, and until the refusal is stored: it must be that of the repository alone.
 */
export const repositoryRefuses: Beginning = async ({ github, environments }, progress) => {
  const body = { message: 'Resource not accessible by integration' };
  await github.failNext({ path: `^/repos/${DOTFILES}/`, status: 403, body, times: ALL });
  return async () => {
    await progress.reached(1);
    try {
      await until(
        () => isServed(github, GARDEN),
        `${GARDEN} is not served while GitHub refuses ${DOTFILES}.`,
      );
      const findHeld = async () =>
        (await Promise.all(environments.map(({ db }) => heldBack(db)))).flat();
      await until(
        async () => (await findHeld()).length > 0,
        `No refusal is stored although GitHub refuses ${DOTFILES}.`,
      );
      const others = (await findHeld()).filter((type) => type !== 'repository');
      if (others.length > 0)
        throw new Error(`Held back because ${DOTFILES} refuses us: ${others.join(', ')}`);
    } finally {
      await github.clearCallFaults();
      progress.over();
    }
  };
};

const isServed = async (github: Stage['github'], repository: string): Promise<boolean> =>
  (await github.truth()).jobs.every(
    ({ repo, status }) => repo !== repository || status === 'completed',
  );

async function heldBack(db: Stage['environments'][number]['db']): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select service as type from outages
    union all select 'key' from demand_keys where pauses > 0
    union all select 'repository' from repositories where refused_since is not null
    union all select 'installation' from installations where refused_since is not null
    union all select 'app' from apps where refused_since is not null`.execute(db);
  return rows.map(({ type }) => type);
}

/** Discovery is paused until all announced jobs have run; then it may find the others. */
export const unlookedFor = during(async ({ github, environments }, progress) => {
  await progress.reached(1);
  const haveAnnouncedRun = async (): Promise<boolean> => {
    const { jobs, completed, struck } = await github.report();
    return completed >= jobs - (struck.event_never_sent ?? 0);
  };
  try {
    await until(haveAnnouncedRun, 'Some jobs that GitHub announced have not run.');
  } finally {
    for (const { db } of environments) await sql`delete from switches`.execute(db);
  }
});

/** Until a service has met it: killed services take time to come back. */
export const apiServerAway = within(
  MIDDLE,
  async ({ cluster }) => {
    await cluster.failNext({ times: ALL });
    await cluster.cutWatches();
  },
  async ({ cluster }) => {
    const isMet = async () => ((await cluster.report()).struck.call_failed ?? 0) > 0;
    try {
      await until(isMet, 'No service has called the API server while it was away.');
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

/** Longer than these services' leases of a task or of a row. */
const SILENT_MS = 12_000;
/**
 * A service says after 3 s that it is not ready. Statements are given up after 35 s: a service that
 * says so only then does not watch PostgreSQL.
 */
const COMPLAIN_WITHIN_MS = 25_000;

/**
 * From a third of the jobs until `end`, the tunnel holds back all data and closes no connection.
 */
export const postgresSilent = (end: (tunnel: Tunnel) => void): Beginning =>
  during(async ({ tunnel, environments }, progress) => {
    if (tunnel === undefined)
      throw new Error('This stage has no tunnel between its services and PostgreSQL.');
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
      throw new Error(
        `The ${name} has called itself ready for ${COMPLAIN_WITHIN_MS / 1_000} s without PostgreSQL.`,
      );
    }),
  ]);

/** The data arrives late, after its senders have given up. */
export const heardAgain = (tunnel: Tunnel) => tunnel.setHeld(false);

/** The data never arrives, and the open connections stay silent for ever. */
export const replaced = (tunnel: Tunnel) => {
  tunnel.replaceServer();
  tunnel.setHeld(false);
};
