import type { Noting } from '@paddock/db/breakers/note-failure';
import {
  findProbed,
  findProbePlace,
  noteAnswer,
  noteSilence,
  type Probed,
} from '@paddock/db/breakers/probes';
import { takeLease } from '@paddock/db/leases/leases';
import type { GitHub } from '@paddock/github/connect';
import { answersProbe as gitHubAnswers } from '@paddock/github/probe';
import type { Cluster } from '@paddock/kube/connect';
import { answersProbe as clusterAnswers } from '@paddock/kube/probe';
import { pause } from '@paddock/runtime/pause';
import type { Wake } from '@paddock/runtime/wake';
import { PROBE_LIMIT_MS } from '../is-cluster-away.ts';
import type { SchedulerEvents } from '../events.ts';

export interface Probing extends Noting {
  readonly github: GitHub;
  readonly cluster: Cluster;
  readonly events: Pick<SchedulerEvents, 'probed' | 'probingFailed'>;
  /** This process, unique per start. */
  readonly holder: string;
}

const EVERY_MS = 1_000;
/**
 * The lease ends before the next probe is due, so that its holder takes it again. Another scheduler
 * follows within two seconds.
 */
const LEASE_MS = 900;
/** The matcher wakes the prober when it sees an open breaker; this is a fallback. */
const SLEEP_MS = 3_600_000;

/**
 * Probes GitHub and the cluster once a second while a breaker of theirs is open, in one process of
 * the environment at a time. Otherwise sleeps, without any call or statement.
 */
export async function runProbing(parts: Probing, wake: Wake, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const nextAt = performance.now() + EVERY_MS;
    const isOpen = await probeOnce(parts, signal).catch((error: unknown) => {
      if (!signal.aborted) parts.events.probingFailed(error);
      return true;
    });
    if (isOpen) await pause(Math.max(0, nextAt - performance.now()), signal);
    else await wake.wait(SLEEP_MS, signal);
  }
}

/**
 * Makes one second's probes if this process holds the lease. Returns false if nothing needs a
 * probe.
 */
async function probeOnce(parts: Probing, signal: AbortSignal): Promise<boolean> {
  const probed = await findProbed(parts.db);
  if (probed.length === 0) return false;
  const lease = await takeLease(parts.db, 'probe', parts.holder, LEASE_MS);
  if (lease !== undefined)
    await Promise.all(probed.map((subject) => probe(parts, subject, signal)));
  return true;
}

async function probe(parts: Probing, subject: Probed, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]);
  const answered =
    subject.type === 'github'
      ? await probeGitHub(parts, limit)
      : await clusterAnswers(parts.cluster, limit);
  if (answered === undefined || signal.aborted) return;
  const isFirst = answered && (await noteAnswer(parts.db, subject));
  if (!answered) await noteSilence(parts.db, subject, parts.breakerRules.longestPauseMs);
  parts.events.probed(subject, { answered, isFirst });
}

/**
 * Probes as an installation that waits for a worker, else as an App, which GitHub always answers.
 * Undefined: GitHub has asked all of them to make no calls.
 */
async function probeGitHub(
  { db, github }: Probing,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const place = await findProbePlace(db, github.appIds);
  const answered = place && (await gitHubAnswers(github.asInstallation(place, { signal })));
  if (answered !== undefined) return answered;
  for (const appId of github.appIds) {
    const answeredApp = await gitHubAnswers(github.asApp(appId, { signal }));
    if (answeredApp !== undefined) return answeredApp;
  }
  return undefined;
}
