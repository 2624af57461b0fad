import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const stopping: readonly NamedMutant[] = [
  {
    mutant: 'a foreign pod of that name counts as the worker’s',
    file: 'apps/scheduler/src/stopping/read-evidence.ts',
    find: `if (pod === undefined || (worker.podUid !== null && pod.uid !== worker.podUid))`,
    replace: `if (pod === undefined)`,
    tests: [
      'apps/scheduler/src/stopping/stop-worker.db.test.ts',
      'apps/scheduler/src/stopping/stop-worker-ends.db.test.ts',
    ],
  },
  {
    mutant: 'a runner is deregistered without a look at the lease',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `    requireTimeLeft(task);
    const result = await deleteRunner`,
    replace: `    const result = await deleteRunner`,
    tests: ['apps/scheduler/src/stopping/stop-worker-stalled.db.test.ts'],
  },
  {
    mutant: 'a stopped pod is deleted without a look at the lease',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `  requireTimeLeft(task);
  const result = await deletePod`,
    replace: `  const result = await deletePod`,
    tests: ['apps/scheduler/src/stopping/stop-worker-ends.db.test.ts'],
  },
  {
    mutant: 'a stopped pod is deleted although it has changed since the last look',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `uid: pod.uid,
    resourceVersion: pod.resourceVersion,
  }`,
    replace: `uid: pod.uid }`,
    tests: ['apps/scheduler/src/stopping/stop-worker-ends.db.test.ts'],
  },
  {
    mutant: 'a stopped pod is deleted although a job was bound to it since the last look',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (pod === undefined || !(await mayStop(db, worker.podName))) return`,
    replace: `if (pod === undefined || !mayStop) return`,
    tests: ['apps/scheduler/src/stopping/stop-worker-ends.db.test.ts'],
  },
  {
    mutant: 'a runner is deregistered although a job was bound to it since the last look',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (!(await markDeregistering(db, worker.podName))) return`,
    replace: `await markDeregistering(db, worker.podName);
  if (stopRules.lastLookMs < 0) return`,
    tests: [
      'apps/scheduler/src/stopping/stop-worker.db.test.ts',
      'apps/scheduler/src/stopping/stop-worker-stalled.db.test.ts',
    ],
  },
  {
    mutant: 'GitHub’s refusal to remove a busy runner is ignored',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (result === 'busy')
      return keep(`,
    replace: `if (result !== 'busy' && result !== 'deleted' && result !== 'absent') return keep(`,
    tests: ['apps/scheduler/src/stopping/stop-worker.db.test.ts'],
  },
  {
    mutant: 'a worker whose entity GitHub refuses ends with its pod still there',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (hasOutlived(evidence) && isRefused(error)) return`,
    replace: `if (isRefused(error)) return`,
    tests: [
      'apps/scheduler/src/stopping/stop-worker.db.test.ts',
      'apps/scheduler/src/stopping/stop-worker-ends.db.test.ts',
    ],
  },
  {
    mutant: 'the Secret of a stopped worker is left behind',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (isOver) await enqueue(trx, [removeSecretTask(podName)]);`,
    replace: `void [enqueue, removeSecretTask];`,
    tests: ['apps/scheduler/src/stopping/stop-podless-workers.db.test.ts'],
  },
  {
    mutant: 'a worker ends as one without a pod although its pod was seen meanwhile',
    file: 'packages/db/src/workers/stopping-workers.ts',
    find: `
    .$if(!hadPod, (query) => query.where('pod_uid', 'is', null))`,
    replace: '',
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'a log that was cut off proves that no job runs',
    file: 'packages/kube/src/job-begun.ts',
    find: `if (isEndMissing || (isLate && !hasStart)) return 'cut';`,
    replace: `if (isLate && !hasStart) return 'cut';`,
    tests: ['packages/kube/src/logs.test.ts'],
  },
  {
    mutant: 'a log whose beginning is missing proves that no job runs',
    file: 'packages/kube/src/job-begun.ts',
    find: `if (isEndMissing || (isLate && !hasStart)) return 'cut';`,
    replace: `if (isEndMissing) return 'cut';`,
    tests: ['packages/kube/src/logs.test.ts', 'apps/scheduler/src/stopping/read-evidence.test.ts'],
  },
  {
    mutant: 'the first page of a log counts as the whole log',
    file: 'packages/kube/src/whole-log.ts',
    find: `if (!isFull && (isLast || confirmations === MOST_CONFIRMATIONS)) return 'end';`,
    replace: `if (!isFull || isLast || confirmations === MOST_CONFIRMATIONS) return 'end';`,
    tests: ['packages/kube/src/logs.test.ts'],
  },
  {
    mutant: 'a full page that brings nothing new is the last',
    file: 'packages/kube/src/whole-log.ts',
    find: `else if (isFull) limitBytes *= 4;`,
    replace: `else if (isFull) return 'end';`,
    tests: ['packages/kube/src/logs.test.ts'],
  },
  {
    mutant: 'a runner’s words at the edge of a piece are not read',
    file: 'packages/kube/src/whole-log.ts',
    find: `rest.slice(-OVERLAP)`,
    replace: `''`,
    tests: ['packages/kube/src/logs.test.ts'],
  },
  {
    mutant: 'a log that cannot be read proves that nothing runs',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `if (!isIdle || heldBy?.startsWith(unproven) !== true) return held(unproven);`,
    replace: `if (!isIdle || heldBy?.startsWith(unproven) !== true) return NOTHING;`,
    tests: [
      'packages/domain/src/workers/stop-steps.test.ts',
      'apps/scheduler/src/stopping/stop-worker.db.test.ts',
    ],
  },
  {
    mutant: 'GitHub’s word of a moment proves that nothing runs where the log cannot be read',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `Math.min(idleMs, stoppingForMs) >= unreadMs`,
    replace: `Math.min(idleMs, stoppingForMs) >= 0`,
    tests: ['packages/domain/src/workers/stop-steps.test.ts'],
  },
  {
    mutant: 'the first hundred runs stand for all that wait',
    file: 'apps/scheduler/src/stopping/read-evidence.ts',
    find: `if (found.length <= maxRuns || last === undefined) return 'none';`,
    replace: `if (found.length > 0 || last === undefined) return 'none';`,
    tests: ['apps/scheduler/src/stopping/stop-worker.db.test.ts'],
  },
  {
    mutant: 'runs that were read before the deregistration are not read after it',
    file: 'packages/db/src/workers/stopping-workers.ts',
    find: `
      runs_read_from: null,
      ...NOT_HELD_UP,`,
    replace: `
      ...NOT_HELD_UP,`,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'a pod that a node has counts as one that nothing can run in',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `return pod.nodeName === undefined ? 'unplaced' : 'unstarted';`,
    replace: `return 'unplaced';`,
    tests: [
      'apps/scheduler/src/stopping/stop-worker.db.test.ts',
      'apps/scheduler/src/stopping/stop-worker-ends.db.test.ts',
    ],
  },
  {
    mutant: 'a pod on no node waits for GitHub’s answer',
    file: 'apps/scheduler/src/stopping/stop-worker.ts',
    find: `if (isUnplaced(evidence) && isGitHubs(error)) return`,
    replace: `if (isUnplaced(evidence) && !isGitHubs(error)) return`,
    tests: ['apps/scheduler/src/stopping/stop-unstarted.db.test.ts'],
  },
  {
    mutant: 'a pod that is deleted before its start is supply until it is gone',
    file: 'packages/db/src/states/states.ts',
    find: `terminating_at is not null and running_at is null`,
    replace: `terminating_at is not null and running_at is null and false`,
    tests: [
      'packages/db/src/states/worker-states.db.test.ts',
      'apps/scheduler/src/stopping/stop-unstarted.db.test.ts',
    ],
  },
  {
    mutant: 'a registration whose runner is busy counts as unused',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `runner === 'offline' || runner === 'unknown';`,
    replace: `runner !== 'online';`,
    tests: ['packages/domain/src/workers/stop-steps-of-pods.test.ts'],
  },
  {
    mutant: 'the pod of an ended worker goes although its containers run',
    file: 'packages/domain/src/workers/nothing-runs.ts',
    find: `? 'unchanged' : 'no';`,
    replace: `? 'unchanged' : 'now';`,
    tests: [
      'packages/domain/src/workers/stop-steps-of-pods.test.ts',
      'apps/reconciler/src/workers/delete-ended-pods.db.test.ts',
    ],
  },
  {
    mutant: 'only jobs of the worker’s own pool are searched for one on it',
    file: 'packages/db/src/workers/runner-readings.ts',
    find: `and (w.scope_repo_id = 0 or j.repo_id`,
    replace: `and j.k8s_pool = w.k8s_pool and (w.scope_repo_id = 0 or j.repo_id`,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'only jobs that want a worker are searched for one on a stopped worker',
    file: 'packages/db/src/workers/runner-readings.ts',
    find: `select job_id from jobs where entity_id = w.entity_id and status = 'pending' union all select`,
    replace: `select`,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
];
