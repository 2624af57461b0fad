import { readChanges } from '@paddock/api/sessions/read-changes';
import * as sessions from '@paddock/api/sessions/sessions';
import * as tokens from '@paddock/api/tokens/check-token';
import * as redelivery from '@paddock/db/deliveries/redelivery';
import * as retire from '@paddock/db/retire-rows';
import { findAppInstallations } from '@paddock/db/entities/installations';
import { findStoredDeliveries } from '@paddock/db/events/append-events';
import { readSharedState } from '@paddock/db/gauges/shared-gauges';
import { findInstance, noteLife } from '@paddock/db/instance';
import { mendInstants } from '@paddock/db/instants';
import * as doubts from '@paddock/db/jobs/jobs-in-doubt';
import { findJobsToLookUp } from '@paddock/db/jobs/look-ups';
import * as repositories from '@paddock/db/jobs/repositories';
import { renewLease, takeLease } from '@paddock/db/leases/leases';
import * as demand from '@paddock/db/matching/demand';
import { lockPlanned } from '@paddock/db/matching/matching-lock';
import * as snapshot from '@paddock/db/matching/read-snapshot';
import * as reserve from '@paddock/db/matching/reserve-workers';
import * as spare from '@paddock/db/matching/spare-workers';
import { findStoredRules } from '@paddock/db/matching/stored-rules';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import * as schedules from '@paddock/db/schedules/schedules';
import * as sweeps from '@paddock/db/schedules/sweep-states';
import { readDatabaseFacts } from '@paddock/db/database-checks';
import { currentVersion, isMigrationNeeded } from '@paddock/db/schema-version';
import type { Trx } from '@paddock/db/schema/tables';
import * as usage from '@paddock/db/sum-usage';
import { findOldestSwitches, findSwitchOfSweep } from '@paddock/db/switches';
import { findAssignedWorkers } from '@paddock/db/workers/assigned-workers';
import * as endedPods from '@paddock/db/workers/ended-pods';
import { noteUnservedKeys } from '@paddock/db/workers/failing-keys';
import { findOverdueWorkers } from '@paddock/db/workers/overdue-workers';
import * as registrations from '@paddock/db/workers/registrations';
import { findEndedJobs } from '@paddock/db/jobs/ended-jobs';
import { findCauses, findProblemsOfApps } from '@paddock/db/causes';
import { findEndingVersions, findRunnersToRead } from '@paddock/db/workers/runner-versions';
import { findUnstartableWorkers, markStuckPods } from '@paddock/db/workers/stuck-pods';
import * as pods from '@paddock/db/workers/worker-pods';
import * as stops from '@paddock/db/workers/worker-stops';
import { findForgottenWorkers } from '@paddock/db/workers/workers';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { claimTasks, nextDueInMs } from '@paddock/queue/claim-tasks';
import { createHeartbeat } from '@paddock/queue/heartbeat';
import { purgeOperations, rollUpTaskCounts } from '@paddock/queue/operations';
import { readQueueDepth } from '@paddock/queue/queue-depth';
import { recoverTasks } from '@paddock/queue/recover-tasks';
import { APP_ID as APP } from '../bench.ts';
import type { Given } from './active.ts';

/** Runs a statement as its periodic callers do. */
export type PeriodicStatement = (trx: Trx, given: Given) => Promise<unknown>;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Of a scheduler. */
export const SETTINGS: MatchingSettings = {
  appIds: [APP],
  registrationsPerMinute: 150,
  surplusAfterMs: 5 * MINUTE,
  warmLifetimeMs: 12 * HOUR,
  failureRules: USUAL_FAILURE_RULES,
};
const DOUBTS: doubts.DoubtRules = {
  stuckAfterMs: 5 * MINUTE,
  heldLookUpFirstMs: HOUR,
  heldLookUpLongestMs: 6 * HOUR,
  recoveryLimit: 3,
  silenceMs: 24 * HOUR,
  queuedAtMostMs: 24 * HOUR,
  lookUpsPerKey: 10,
  // It writes them, with all indexes: no more than others write.
  lookUpsOfPass: 100,
};
const ACTIVE = { activeMs: 24 * HOUR, discoverRepositoryEveryMs: 15 * MINUTE };
const GRACES = { succeededGraceMs: 6 * HOUR, failedGraceMs: 6 * HOUR };
const SLOTS = { 'provision-worker': 16, 'stop-worker': 4, 'remove-secret': 4, 'diagnose-pod': 4 };
const KEPT = { okMs: 7 * 24 * HOUR, failedMs: 30 * 24 * HOUR };
const CLAIM = { holder: 'growth', claimMs: 15_000, slots: SLOTS, keepFailedMs: KEPT.failedMs };

/** The number of rows per write. */
const BATCH = 100;

const ofEach = (demandKeys: readonly number[], count: number) =>
  demandKeys.map((demandKey) => ({ demandKey, count }));

const guid = (n: number): string => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;

/**
 * Every statement that a service runs by the clock, even without events, by the name of its
 * function.
 */
export const periodicStatements = {
  // The matcher, every few seconds
  sumUpDemand: demand.sumUpDemand,
  findDemand: (trx) => demand.findDemand(trx, [APP]),
  countLiveWorkers: snapshot.countLiveWorkers,
  findStoredRules: (trx) => findStoredRules(trx, SETTINGS),
  findJobTimes: (trx, { demandKeys }) => reserve.findJobTimes(trx, ofEach(demandKeys, 10)),
  reserveWorkers: (trx, { demandKeys }) =>
    reserve.reserveWorkers(trx, ofEach(demandKeys, 1), [APP]),
  findSpareKeys: spare.findSpareKeys,
  countStoppingWorkers: snapshot.countStoppingWorkers,
  findReturnableWorkers: spare.findReturnableWorkers,
  lockPlanned: (trx, { reservedNames, podNames }) =>
    lockPlanned(trx, {
      giveBack: reservedNames,
      takeBack: podNames,
      warm: { mark: [], renew: podNames, make: [] },
    }),
  takeBackWorkers: (trx, { podNames }) => spare.takeBackWorkers(trx, podNames),
  stopSpareWorkers: (trx, { demandKeys }) =>
    spare.stopSpareWorkers(
      trx,
      demandKeys.map((demandKey) => ({ demandKey, count: 1, inTheWay: 0 })),
      SETTINGS,
    ),
  renewWarmWorkers: (trx, { podNames }) => spare.renewWarmWorkers(trx, podNames),
  findReservations: spare.findReservations,
  giveBackWorkers: (trx, { reservedNames }) => spare.giveBackWorkers(trx, reservedNames),
  noteUnservedKeys: (trx) => noteUnservedKeys(trx, USUAL_FAILURE_RULES),
  findWarmKeys: (trx) => reserve.findWarmKeys(trx, { lifetimeMs: HOUR, appIds: [APP] }),
  findUnknownWarmScopes: (trx) => reserve.findUnknownWarmScopes(trx, [APP]),
  markWarm: (trx, { demandKeys }) => reserve.markWarm(trx, ofEach(demandKeys, 1)),
  forgetRestingKeys: demand.forgetRestingKeys,
  findForgottenWorkers: (trx) =>
    findForgottenWorkers(trx, { kind: 'provision-worker', olderThanMs: 2 * MINUTE, limit: 250 }),
  currentPoolsDocument,

  // The follower of pods
  findNamespaces: pods.findNamespaces,
  findAssignedWorkers,
  findKnownPods: (trx) => pods.findKnownPods(trx, 'runners'),
  markStuckPods: (trx) => markStuckPods(trx, 5 * MINUTE),
  findUnstartableWorkers: (trx) =>
    findUnstartableWorkers(trx, {
      afterMs: MINUTE / 2,
      windowMs: MINUTE * 15,
      mostOfPool: 60,
      mostAtOnce: 20,
    }),
  stopVanishedWorkers: (trx, { podNames }) => pods.stopVanishedWorkers(trx, podNames),
  takeLease: (trx) => takeLease(trx, 'growth', 'growth', MINUTE),
  renewLease: (trx) => renewLease(trx, { name: 'growth', holder: 'growth', fence: 1 }, MINUTE),

  // The queue
  claimTasks: async (trx) => {
    await claimTasks(trx, { ...CLAIM, takeOver: false });
    await claimTasks(trx, { ...CLAIM, takeOver: true });
  },
  createHeartbeat: (trx) =>
    createHeartbeat({
      ...CLAIM,
      db: trx,
      held: new Map(),
      onError: () => undefined,
    }).once(),
  nextDueInMs: (trx) => nextDueInMs(trx, Object.keys(SLOTS)),
  recoverTasks: (trx) => recoverTasks(trx, { batch: 250, keep: KEPT }),
  readQueueDepth,

  // The metrics, at each scrape
  readSharedState,
  isMigrationNeeded,
  findProblemsOfApps,
  findSweepStates: (trx) =>
    sweeps.findSweepStates(trx, [
      { name: 'check-apps', kind: 'check-apps', subjectId: 'check-apps' },
    ]),

  // The queue's own upkeep
  purgeOperations: (trx) => purgeOperations(trx, BATCH),
  rollUpTaskCounts: (trx) => rollUpTaskCounts(trx),

  // The reconciler's schedules and sweeps
  databaseTime: schedules.databaseTime,
  readScheduleTimes: (trx) => schedules.readScheduleTimes(trx, ['growth']),
  takeExtraPasses: (trx) => schedules.takeExtraPasses(trx, ['growth']),
  takeTick: (trx) => schedules.takeTick(trx, { name: 'growth', tickAt: new Date() }),
  findPassMemory: (trx) => sweeps.findPassMemory(trx, 'check-apps'),
  notePass: (trx) =>
    sweeps.notePass(trx, 'check-apps', {
      memory: { failing: {}, unreached: {}, seen: {} },
      isSuccess: true,
      task: { id: guid(1), fence: 1 },
    }),
  findSwitchOfSweep: (trx) => findSwitchOfSweep(trx, 'check-workers', 'check-workers'),
  noteLife: (trx) => noteLife(trx, 'scheduler'),
  readDatabaseFacts: (trx) => readDatabaseFacts(trx, { schema: 'paddock' }),
  currentVersion,
  findInstance,
  mendInstants: (trx) => mendInstants(trx),
  markJobsInDoubt: (trx) => doubts.markJobsInDoubt(trx, DOUBTS),
  countStuckJobs: (trx) => doubts.countStuckJobs(trx, 3),
  findJobsToLookUp: (trx) =>
    findJobsToLookUp(trx, { batch: 250, secondLookMs: MINUTE, appIds: [APP] }),
  failUnaskableJobs: (trx) => doubts.failUnaskableJobs(trx, DOUBTS, [APP]),
  endJoblessGraces: (trx) => doubts.endJoblessGraces(trx, 10),
  noteActiveRepositories: (trx) => repositories.noteActiveRepositories(trx, ACTIVE),
  forgetRepositories: repositories.forgetRepositories,
  findDueRepositories: (trx) =>
    repositories.findDueRepositories(trx, { most: 100, activeMs: 24 * HOUR, appIds: [APP] }),
  findUnlistedInstallations: (trx) =>
    repositories.findUnlistedInstallations(trx, {
      everyMs: 6 * HOUR,
      appIds: [APP],
      most: 20,
      except: [],
    }),
  findOverdueWorkers: (trx) =>
    findOverdueWorkers(trx, {
      readingsApartMs: MINUTE,
      appIds: [APP],
      limit: 1_000,
    }),
  findCauses,
  findEndedJobs: async (trx) => void (await findEndedJobs(trx, 1)),
  findRunnersToRead: (trx) => findRunnersToRead(trx, [APP]),
  findEndingVersions,
  findOldestSwitches,
  findStopsWithoutTask: (trx) =>
    stops.findStopsWithoutTask(trx, { kind: 'stop-worker', olderThanMs: 2 * MINUTE, limit: 1_000 }),
  findHeldStops: (trx) => stops.findHeldStops(trx, HOUR),
  findListableRunners: (trx) => stops.findListableRunners(trx, { entityId: 1, scopeRepoId: 0 }),
  findEndedPods: (trx) =>
    endedPods.findEndedPods(trx, { ...GRACES, kept: 2_000, limit: 10_000, except: [] }),
  markPodsDeleted: (trx, { endedNames }) => endedPods.markPodsDeleted(trx, endedNames),
  markPodsThere: (trx, { endedNames }) => endedPods.markPodsThere(trx, endedNames),
  findKnownScopes: (trx) =>
    registrations.findKnownScopes(trx, { madeWithinMs: 24 * HOUR, appIds: [APP] }),
  findWorkersByName: (trx, { podNames, endedNames }) =>
    registrations.findWorkersByName(trx, [...podNames, ...endedNames]),
  findAppInstallations: (trx) => findAppInstallations(trx, APP),
  retiredUpTo: retire.retiredUpTo,
  retireEvents: (trx) => retire.retireEvents(trx, { afterId: 0, keepDays: 90, batch: BATCH }),
  retireJobs: (trx) => retire.retireJobs(trx, { keepDays: 90, batch: BATCH }),
  findHoursToSum: (trx) => usage.findHoursToSum(trx, { keptDays: 365, most: 200 }),
  sumUsage: (trx) => usage.sumUsage(trx, new Date(Date.now() - 24 * HOUR)),
  retireUsage: (trx) => usage.retireUsage(trx),
  retireWaitReasons: (trx) => retire.retireWaitReasons(trx, { keepHours: 24, batch: BATCH }),
  readSnapshot: async (trx) => snapshot.readSnapshot(trx, await demand.sumUpDemand(trx), SETTINGS),

  // The redelivery
  readLogMark: (trx) => redelivery.readLogMark(trx, APP),
  storeLogMark: (trx) => redelivery.storeLogMark(trx, APP, { readTo: new Date() }),
  findStoredDeliveries: (trx) =>
    findStoredDeliveries(
      trx,
      Array.from({ length: BATCH }, (_, n) => ({
        guid: guid(n),
        event: 'workflow_job',
        action: 'queued',
        installationId: null,
        repositoryId: null,
        isDelivered: true,
      })),
    ),
  resolveDeliveries: (trx) => redelivery.resolveDeliveries(trx, APP, [guid(1)]),
  bringForwardRequests: (trx) =>
    redelivery.bringForwardRequests(trx, APP, { id: '1', deliveredAt: new Date() }),
  findDueRedeliveries: (trx) =>
    redelivery.findDueRedeliveries(trx, APP, { perMinute: 150, earlyMs: MINUTE, cycleMs: 300_000 }),
  handOverUnresolved: (trx) => redelivery.handOverUnresolved(trx, APP, 100),
  giveUpRedeliveries: (trx) => redelivery.giveUpRedeliveries(trx, APP, 72 * HOUR),
  oldestUnresolvedSeconds: redelivery.oldestUnresolvedSeconds,
} satisfies Readonly<Record<string, PeriodicStatement>>;

/** Those of the console: with each request, and for its pages twice a second. */
export const consoleStatements: Readonly<Record<string, PeriodicStatement>> = {
  findToken: (trx) => tokens.findToken(trx, '0'.repeat(16)),
  findOneTimeToken: (trx) => tokens.findOneTimeToken(trx, '0'.repeat(16)),
  findIdentity: (trx) => sessions.findIdentity(trx, '0'.repeat(16)),
  findSession: (trx) => sessions.findSession(trx, { id: '0'.repeat(16), tokenId: '0'.repeat(16) }),
  readChanges: (trx) => readChanges(trx, { tokens: ['ci'], sessions: ['0123456789abcdef'] }),
};

/** The statements that no schedule runs, by their cause. */
export const otherStatements: Readonly<Record<string, string>> = {
  'a delivery, or GitHub’s answer instead of one': `
    recordDeliveries storeDeliveries storeDelivery compareBodies storeJobs storeJobsAtOnce readJobs lookAtJobs bindRunners
    bindWorkers appendEvents recordFindings storeInstallations lockInstallations
    noteInstallations noteOtherRepositories pinLogins repairInstallation
    endRefusalsOfRepositories rememberLostDeliveries recordRedeliveryRequest wantExtraPasses
    forgetFoundOutKeys findHeldJobs`,
  'a call of GitHub': 'createWaits',
  'a task about one worker or key, or its end': `
    findWorkerToProvision markRegistrationStarted clearRegistrationStarted saveRegistration
    saveRunnerGroup isPending savePod failUnstartedWorker findWorkerPlace saveDiagnosis
    findEndWithoutJob markOutdatedRunner markSecretDeleted findWorkerToStop markDeregistered
    markDeregistering mayStop changeWorker keepWorker keepForJob noteStopHeldUp noteRunsRead
    endStoppedWorker findFittingRuns noteRegistrationBudget recordRefusal
    noteKeyFailure noteKeySuccess enqueue enqueueAlone writeSettlements requeueTasks
    enqueueUrgent endTasks`,
  'a change in the cluster': 'recordPodStates adoptWorkers',
  'each row that a sweep has found': `
    saveRunnerReadings saveRunnerVersion saveVersionEnd requestStops noteLookUps noteHiddenJobs
    postponeLookUps askForLookUps findKnownJobs saveRepositoryListing postponeRepository
    noteListedRepositories endRefusals saveKeyStates reserveWarmWorkers`,
  'a change of the pools': `
    storePoolsDocument reconsiderJobs replaceWaitingJobs forgetFailuresOfChangedPools`,
  'the beginning and the end of an outage': 'noteAway noteBack confirmOutages',
  'a change of the configuration file': 'endRefusalsOfApp',
  'a start or an end of a process': `
    createFitness takeOverTasks lockMatching saveAppIds`,
  'a person': `
    setSwitch liftSwitch readTaskCounts enqueueAsked findInstallation readAnew lockFailed
    noteHandled drainWorkers countPoolToDrain findUnresolved noteResynced recordDone
    findSwitches findDrainState findMatchingSettings findSecondsAhead findMadeAt readSweeps
    findLapsedLeases`,
};
