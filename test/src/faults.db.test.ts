import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAULTS } from '@paddock/bench/faults/matrix';
import { playFault } from '@paddock/bench/faults/play-fault';
import { type Stage, startStage } from '@paddock/bench/faults/stage';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { SEED } from '@paddock/testing/random-cases';

/** Those of the matrix that need no pause or deadline to end, which last half a minute each; `bench faults` plays all, with many jobs. */
const QUICK = [
  'events-never-sent',
  'deliveries-lost',
  'in-progress-lost',
  'completed-lost',
  'ingress-down',
  'wrong-secret',
  'repository-refuses',
  'postgres-restarts',
  'services-killed',
] as const;

/** Those on a stage whose services reach PostgreSQL through a tunnel. */
const SILENT = ['postgres-goes-silent', 'postgres-goes-silent-and-another-answers'] as const;

/** With so few jobs it may well lose no delivery; all others strike for certain. */
const MAY_MISS = 'deliveries-lost';

const JOBS = 8;
/** Nets for a hung test on a busy machine: eight processes are started, and some of them again and again. */
const NET_MS = 180_000;
const PATIENCE_MS = 90_000;

describe.each([
  { on: 'a stage', isTunnelled: undefined, faults: QUICK },
  { on: 'a stage with a tunnel', isTunnelled: true, faults: SILENT },
] as const)('jobs while something goes wrong, on $on: none lost, none killed, nothing left (P1, P2, E6)', ({ isTunnelled, faults }) => {
  let postgres: Postgres;
  let stage: Stage;

  beforeAll(async () => {
    postgres = await startPostgres();
    stage = await startStage(postgres, { isTunnelled, seed: SEED });
  }, NET_MS);

  afterAll(async () => {
    await stage.close();
    await postgres.stop({ mode: 'immediate' });
  });

  test.each(faults)(
    '%s',
    async (name) => {
      const fault = FAULTS.find((each) => each.name === name);
      if (fault === undefined) throw new Error(`There is no fault ${name}.`);
      const { unsettled, lost, workersLeft, registrationsLeft, podsLeft, runningKilled } = await playFault(
        stage,
        name === MAY_MISS ? { ...fault, signs: {} } : fault,
        {
          jobs: JOBS,
          patienceMs: PATIENCE_MS,
        },
      );
      expect(unsettled).toEqual([]);
      expect({ lost, workersLeft, registrationsLeft, podsLeft, runningKilled }).toEqual({
        lost: 0,
        workersLeft: 0,
        registrationsLeft: 0,
        podsLeft: 0,
        runningKilled: 0,
      });
    },
    NET_MS,
  );
});
