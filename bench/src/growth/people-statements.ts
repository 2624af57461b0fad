import { listActions } from '@paddock/api/actions/list-actions';
import { findInstallation, listInstallations } from '@paddock/api/installations/installations';
import { countWaits } from '@paddock/api/jobs/list-jobs';
import { findAskers } from '@paddock/api/operations/operation';
import { findOwner } from '@paddock/api/repositories/resync';
import { findIdentity, findSession, listSignedIn } from '@paddock/api/sessions/sessions';
import { readChanges } from '@paddock/api/sessions/read-changes';
import { findScheduledApps } from '@paddock/api/sweeps/run-sweep';
import { isKnownPool, listSwitches } from '@paddock/api/switches/switches';
import { findOneTimeToken, findToken } from '@paddock/api/tokens/check-token';
import { listTokens } from '@paddock/api/tokens/tokens';
import { findJobDeliveries, findJobsOfRun } from '@paddock/api/why/explain-job';
import { findExplainedJob, findHindrances } from '@paddock/api/why/find-hindrances';
import {
  findEarlierReasons,
  findLastStarts,
  findWaitFacts,
  findWorkersOfKey,
} from '@paddock/api/why/find-wait-facts';
import { findMatchingSettings } from '@paddock/db/instance';
import { findSwitches } from '@paddock/db/switches';
import { findDrainState } from '@paddock/db/workers/worker-stops';
import { type PeriodicStatement, SETTINGS } from './periodic-statements.ts';

/**
 * What people's questions read, by the name of its function. A person may ask any time, beside a
 * year of ended rows: these statements read as little as those that run by the clock.
 */
export const peopleStatements: Readonly<Record<string, PeriodicStatement>> = {
  countWaits: (trx) => countWaits(trx),
  listActions: (trx) => listActions(trx, { limit: 30 }),
  listInstallations: (trx) => listInstallations(trx, { limit: 31, after: [1, 1] }),
  listSwitches: (trx) => listSwitches(trx, { limit: 31, after: ['2026-01-31', 'pool:x'] }),
  findSwitches: (trx) => findSwitches(trx, ['environment', 'pool:x', 'entity:1']),
  findAskers: (trx) =>
    findAskers(trx, {
      id: '00000000-0000-4000-8000-000000000000',
      kind: 'check-apps',
      subject: { type: 'schedule', id: 'check-apps' },
    }),
  findDrainState: (trx) => findDrainState(trx, 'none'),
  findInstallation: (trx) => findInstallation(trx, 1),
  findOwner: (trx) => findOwner(trx, 'entity-1'),
  findScheduledApps: (trx) => findScheduledApps(trx),
  isKnownPool: (trx) => isKnownPool(trx, 'none'),
  listTokens: (trx) => listTokens(trx, { limit: 31, after: ['a'] }),
  findToken: (trx) => findToken(trx, '0'.repeat(16)),
  findOneTimeToken: (trx) => findOneTimeToken(trx, '0'.repeat(16)),
  listSignedIn: (trx) => listSignedIn(trx, { limit: 31, after: ['a'] }),
  findIdentity: (trx) => findIdentity(trx, '0'.repeat(16)),
  findSession: (trx) => findSession(trx, { id: '0'.repeat(16), tokenId: '0'.repeat(16) }),
  readChanges: (trx) => readChanges(trx, { tokens: ['ci'], sessions: ['0123456789abcdef'] }),
  findWaitFacts: (trx, { jobIds: [job = 0] }) => findWaitFacts(trx, job),
  findExplainedJob: (trx, { jobIds }) => findExplainedJob(trx, jobIds.at(-1) ?? 0, SETTINGS.appIds),
  findHindrances: async (trx, { jobIds: [job = 0] }) => {
    const explained = await findExplainedJob(trx, job, SETTINGS.appIds);
    return explained && findHindrances(trx, explained, SETTINGS.appIds);
  },
  findWorkersOfKey: (trx, { demandKeys: [key = 0] }) => findWorkersOfKey(trx, key),
  findLastStarts: async (trx, { jobIds: [job = 0] }) => {
    const explained = await findExplainedJob(trx, job, SETTINGS.appIds);
    return explained && findLastStarts(trx, explained.job);
  },
  findMatchingSettings: (trx) => findMatchingSettings(trx),
  findEarlierReasons: (trx, { jobIds: [job = 0] }) => findEarlierReasons(trx, job),
  findJobDeliveries: (trx, { jobIds: [job = 0] }) => findJobDeliveries(trx, job),
  findJobsOfRun: (trx) => findJobsOfRun(trx, { run: 1, owner: 'entity-1', limit: 30 }),
};
