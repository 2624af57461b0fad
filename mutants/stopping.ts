import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const stopping: readonly NamedMutant[] = [
  {
    mutant: 'a foreign pod of that name counts as the worker’s',
    file: 'apps/scheduler/src/stopping/read-evidence.ts',
    find: `if (pod === undefined || (worker.podUid !== null && pod.uid !== worker.podUid)) return 'absent';`,
    replace: `if (pod === undefined) return 'absent';`,
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
      and (\${hadPod}::boolean or pod_uid is null)\``,
    replace: `\``,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'a log that was cut off proves that no job runs',
    file: 'packages/kube/src/job-begun.ts',
    find: `  if (isEndMissing) return 'cut';
`,
    replace: ``,
    tests: ['packages/kube/src/job-begun.test.ts'],
  },
  {
    mutant: 'a log whose beginning is missing proves that no job runs',
    file: 'apps/scheduler/src/stopping/read-evidence.ts',
    find: `return read === 'cut' ? 'unreadable' : read;`,
    replace: `return read === 'cut' ? 'listening' : read;`,
    tests: ['apps/scheduler/src/stopping/read-evidence.test.ts'],
  },
  {
    mutant: 'only jobs of the worker’s own pool are searched for one on it',
    file: 'packages/db/src/jobs/fitting-runs.ts',
    find: `and (w.scope_repo_id = 0 or j.repo_id`,
    replace: `and j.k8s_pool = w.k8s_pool and (w.scope_repo_id = 0 or j.repo_id`,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'only jobs that want a worker are searched for one on a stopped worker',
    file: 'packages/db/src/jobs/fitting-runs.ts',
    find: `select job_id from jobs where entity_id = w.entity_id and status = 'pending' union all select`,
    replace: `select`,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
];
