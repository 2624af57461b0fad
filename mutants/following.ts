import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const following: readonly NamedMutant[] = [
  {
    mutant: 'pods made while a list was being read count as gone',
    file: 'packages/kube/src/watch-pods.ts',
    find: `    await watch.beforeList?.();
    const begunAt = now().getTime();
    const list = await attempt(listPods(cluster, watch, signal), signal);
`,
    replace: `    const begunAt = now().getTime();
    const list = await attempt(listPods(cluster, watch, signal), signal);
    await watch.beforeList?.();
`,
    tests: ['apps/scheduler/src/following/late-list.db.test.ts'],
  },
  {
    mutant: 'a namespace is followed for ever, though no pool names it and no worker is there',
    file: 'apps/scheduler/src/following/follow-pods.ts',
    find: 'if (needed.includes(namespace)) continue;',
    replace: 'if (namespace) continue;',
    tests: ['apps/scheduler/src/following/gone-pods.db.test.ts'],
  },
  {
    mutant: 'a watch keeps asking for a version that is too old',
    file: 'packages/kube/src/watch-pods.ts',
    find: `failures = failure.kind === 'gone' ? MOST_RESUMES : failures + 1;`,
    replace: `failures = failure.kind === 'gone' ? 0 : failures + 1;`,
    tests: ['packages/kube/src/watch-pods.test.ts'],
  },
  {
    mutant: 'a watch continues from the last change and ignores bookmarks',
    file: 'packages/kube/src/watch-pods.ts',
    find: `resourceVersion = step.value.value.at(-1)?.resourceVersion`,
    replace: `resourceVersion = events.at(-1)?.resourceVersion`,
    tests: ['packages/kube/src/watch-pods.test.ts'],
  },
  {
    mutant: 'pods are not listed again while the watch continues',
    file: 'packages/kube/src/watch-pods.ts',
    find: `failures < MOST_RESUMES && now().getTime() < relistAt`,
    replace: `failures < MOST_RESUMES && (now().getTime() < relistAt || answer?.relistInMs === undefined)`,
    tests: ['packages/kube/src/watch-pods.test.ts'],
  },
  {
    mutant: 'only the first page of a list is read',
    file: 'packages/kube/src/pods.ts',
    find: `} while (next !== undefined);`,
    replace: `} while (next !== undefined && pods.length < 500 && selection.pageSize === undefined);`,
    tests: ['packages/kube/src/cluster.contract.test.ts'],
  },
  {
    mutant: 'a pod that is not the row’s ends the row',
    file: 'packages/db/src/workers/worker-pods.ts',
    find: `\${LIVE} and (pod_uid is null or pod_uid = g."podUid")`,
    replace: `\${LIVE}`,
    tests: ['apps/scheduler/src/following/follow-pods.db.test.ts'],
  },
  {
    mutant: 'a worker whose pod was never seen counts as vanished',
    file: 'packages/db/src/workers/worker-pods.ts',
    find: `    .where('pod_uid', 'is not', null)
`,
    replace: ``,
    tests: ['apps/scheduler/src/following/gone-pods.db.test.ts'],
  },
  {
    mutant: 'no job is looked up after an unexplained end',
    file: 'apps/scheduler/src/following/record-pods.ts',
    find: `...(unexplained ? [lookUpJobsTask] : []),`,
    replace: `...(unexplained && lookUpJobsTask.kind === '' ? [lookUpJobsTask] : []),`,
    tests: ['apps/scheduler/src/following/follow-pods.db.test.ts'],
  },
  {
    mutant: 'the last seen state of a deleted pod counts, even if its end is known',
    file: 'apps/scheduler/src/following/follow-pods.ts',
    find: `pod.phase !== 'Failed' &&
      newest.has(pod.uid);`,
    replace: `pod.phase !== 'Failed' && !newest.has(pod.uid);`,
    tests: ['apps/scheduler/src/following/follow-pods.db.test.ts'],
  },
  {
    mutant: 'a vanished pod’s worker stays supply',
    file: 'apps/scheduler/src/following/follow-pods.ts',
    find: `  await takeAbsence(parts, judged.gone);
`,
    replace: ``,
    tests: ['apps/scheduler/src/following/gone-pods.db.test.ts'],
  },
  {
    mutant: 'a pod of another installation of Paddock is adopted',
    file: 'packages/domain/src/workers/worker-name.ts',
    find: ` && name.startsWith(instancePrefix(instance))`,
    replace: ``,
    tests: ['apps/scheduler/src/following/adopt-pods.db.test.ts'],
  },
  {
    mutant: 'a scheduler makes workers before it has read all pods',
    file: 'apps/scheduler/src/following/sync-pods.ts',
    find: `let losses = 1;`,
    replace: `let losses = 0;`,
    tests: ['apps/scheduler/src/following/sync-pods.db.test.ts'],
  },
  {
    mutant: 'rows that a failover lost are not looked for in the cluster',
    file: 'apps/scheduler/src/following/sync-pods.ts',
    find: `parts.outage.onFailure(() => void losses++);`,
    replace: `parts.outage.onFailure(() => undefined);`,
    tests: ['apps/scheduler/src/following/sync-pods.db.test.ts'],
  },
  {
    mutant: 'a namespace that cannot be read keeps all workers from being made',
    file: 'apps/scheduler/src/following/sync-pods.ts',
    find: `return 'pods' in list || !(await reach.cluster.report());`,
    replace: `await reach.cluster.report();
    return 'pods' in list;`,
    tests: ['apps/scheduler/src/following/sync-pods.db.test.ts'],
  },
  {
    mutant: 'pods are not followed after their list has failed',
    file: 'packages/kube/src/watch-pods.ts',
    find: `      await interrupted(list.failure);
      continue;`,
    replace: '      return;',
    tests: ['packages/kube/src/watch-pods.test.ts'],
  },
];
