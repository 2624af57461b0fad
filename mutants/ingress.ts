import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** The webhook's promises to its senders, and the rights of its role in the database. */
export const ingress: readonly NamedMutant[] = [
  {
    mutant: 'the whole payload of an ignored job cannot be asked for',
    file: 'apps/ingress/src/main.ts',
    find: "config.ignoredJobPayload === 'reduced'",
    replace: 'true',
    tests: ['apps/ingress/src/service.db.test.ts'],
  },
  {
    mutant: 'ignored jobs are stored whole by default',
    file: 'apps/ingress/src/config.ts',
    find: "default: 'reduced',",
    replace: "default: 'full',",
    tests: ['apps/ingress/src/service.db.test.ts'],
  },
  {
    mutant: 'a delivery that is refused because PostgreSQL is away is not remembered as a gap',
    file: 'apps/ingress/src/receive-delivery.ts',
    find: `        gaps.refused(details.appId);
`,
    replace: '',
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'a delivery of one App that is refused is a gap of every App',
    file: 'apps/ingress/src/gaps.ts',
    find: 'refused: (appId) => void refusedAt.set(appId, now()),',
    replace:
      'refused: () => void [...storedAt.keys()].forEach((appId) => refusedAt.set(appId, now())),',
    tests: ['apps/ingress/src/gaps.test.ts'],
  },
  {
    mutant: 'a body that has arrived whole can still be cut off',
    file: 'apps/ingress/src/body-budget.ts',
    find: 'arrived: () => void arriving.delete(body),',
    replace: 'arrived: () => undefined,',
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'a conflict with another batch is not tried again',
    file: 'apps/ingress/src/batcher.ts',
    find: 'if (mayRepeat && isConflict(error)) {',
    replace: 'if (mayRepeat && isConflict(error) && entries.length === 0) {',
    tests: ['apps/ingress/src/storing.test.ts'],
  },
  {
    mutant: 'the log is read as often for a possible gap as for a certain one',
    file: 'apps/ingress/src/gaps.ts',
    find: `    if (at - (unsureAt.get(appId) ?? Number.NEGATIVE_INFINITY) < UNSURE_APART_MS) return undefined;
`,
    replace: '',
    tests: ['apps/ingress/src/gaps.test.ts'],
  },
  {
    mutant: 'a replica stays unready after one failed write',
    file: 'apps/ingress/src/write-health.ts',
    find: 'failure === undefined || now() - failure.at > REMEMBERED_MS',
    replace: 'failure === undefined',
    tests: ['apps/ingress/src/storing.test.ts'],
  },
  {
    mutant: 'a body that came too often in a minute is never looked up again',
    file: 'apps/ingress/src/count-repeats.ts',
    find: 'seen === undefined || now() - seen.since >= MINUTE_MS',
    replace: 'seen === undefined',
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'two Apps may share a webhook secret',
    file: 'apps/ingress/src/config.ts',
    find: `  problems.push(...sharedSecrets(apps));
`,
    replace: '',
    tests: ['apps/ingress/src/config.test.ts'],
  },
  {
    mutant: 'ingress may change every column of a worker',
    file: 'db/roles.sql',
    find: 'grant update (assigned_job_id, assigned_at, unexplained_until) on workers to :ingress;',
    replace: 'grant update on workers to :ingress;',
    tests: ['apps/ingress/src/rights.attack.test.ts'],
  },
  {
    mutant: 'ingress may not end the wait for an explanation when it binds a worker',
    file: 'db/roles.sql',
    find: 'grant update (assigned_job_id, assigned_at, unexplained_until) on workers to :ingress;',
    replace: 'grant update (assigned_job_id, assigned_at) on workers to :ingress;',
    tests: ['packages/db/src/deliveries/eight-connections.db.test.ts'],
  },
  {
    mutant: 'ingress may not read which deliveries are asked for',
    file: 'db/roles.sql',
    find: 'grant select (app_id, guid) on unresolved_deliveries to :ingress;\n',
    replace: '',
    tests: ['packages/db/src/deliveries/eight-connections.db.test.ts'],
  },
  {
    mutant: 'a repeated body proves that GitHub reaches us',
    file: 'apps/ingress/src/receive-delivery.ts',
    find: "if (outcome !== 'repeated_body') {",
    replace: "if (outcome !== ('' as Outcome)) {",
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'a body that has just begun is cut off for another',
    file: 'apps/ingress/src/body-budget.ts',
    find: 'now() - oldest.begunAt < ARRIVES_WITHIN_MS',
    replace: 'now() < oldest.begunAt',
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'a gap that could not be stored is forgotten',
    file: 'apps/ingress/src/gaps.ts',
    find: `      noteGap(appId, gap);
      wake.ring();
      throw error;`,
    replace: '      throw error;',
    tests: ['apps/ingress/src/gaps.test.ts'],
  },
  {
    mutant: 'batches have any number of bytes',
    file: 'apps/ingress/src/batcher.ts',
    find: 'return index === maxBatch || (index > 0 && bytes > maxBatchBytes);',
    replace: 'return index === maxBatch;',
    tests: ['apps/ingress/src/storing.test.ts'],
  },
  {
    mutant: 'bodies that are being read take any memory',
    file: 'apps/ingress/src/read-body.ts',
    find: 'else if (!claim.hold(chunk.length))',
    replace: 'else if (!claim.hold(chunk.length) && size < 0)',
    tests: ['apps/ingress/src/receiving.test.ts'],
  },
  {
    mutant: 'only the first secret of an App counts',
    file: 'packages/github/src/signature.ts',
    find: 'if (fits) signed = true;',
    replace: 'if (fits && secret === secrets[0]) signed = true;',
    tests: ['packages/github/src/signature.test.ts'],
  },
  {
    mutant: 'a new job alone counts as one of a known installation',
    file: 'packages/db/src/jobs/store-jobs.ts',
    find: `
    and i.installation_id = "installationId" and i.login = "entityName")`,
    replace: ')',
    tests: ['packages/db/src/deliveries/store-new-job.db.test.ts'],
  },
  {
    mutant: 'a job may change between its reading and its writing',
    file: 'packages/db/src/jobs/read-jobs.ts',
    find: ' limit 1 for no key update',
    replace: ' limit 1',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'each batch inserts its new jobs in the order of its deliveries',
    file: 'packages/db/src/jobs/store-jobs.ts',
    find: ' order by "jobId"',
    replace: '',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'known jobs are updated before new ones are inserted',
    file: 'packages/db/src/jobs/store-jobs.ts',
    find: `    from given cross join (select count(*) from inserted) new_rows where job_id = "jobId" and not "isNew"
    returning 1
  ),
  \${appendingIfWhole('(select count(*) from inserted) + (select count(*) from updated) = (select count(*) from given)')}`,
    replace: `    from given where job_id = "jobId" and not "isNew"
    returning 1
  ),
  \${appendingIfWhole('(select count(*) from updated) + (select count(*) from inserted) = (select count(*) from given)')}`,
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
];
