import {
  listRedeliveriesEndpoint,
  redeliverDeliveryEndpoint,
} from '@paddock/api/deliveries/deliveries';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { resyncRepositoryEndpoint } from '@paddock/api/repositories/repositories';
import { runSweepEndpoint } from '@paddock/api/sweeps/sweeps';
import { turnSwitchEndpoint } from '@paddock/api/switches/switches';
import { drainEndpoint } from '@paddock/api/workers/drain';
import { findWorkerEndpoint, listWorkersEndpoint } from '@paddock/api/workers/workers';
import { changePool } from './configuration.ts';
import { ALWAYS, type Sight, type Stop } from './stop.ts';
import { DEAF_APP } from './tour-platform.ts';
import type { TourWorld } from './world.ts';

/** An operation once it has ended. */
async function ended(world: TourWorld, { id: operation }: { readonly id: string }): Promise<Sight> {
  const found = await world.until(`the end of operation ${operation}`, async () => {
    const now = await world.ask(findOperationEndpoint, { operation });
    return now.finishedAt === null ? undefined : now;
  });
  const { kind, status, failure, output } = found;
  const said = failure === null ? JSON.stringify(output) : `${failure.reason}: ${failure.message}`;
  return { path: `/operations/${operation}`, sentence: `${kind} ${status}: ${said}` };
}

/** The newest idle worker of the pool that keeps some warm. */
const warmWorkers = (world: TourWorld, many: number) =>
  world.until(`${many} warm workers`, async () => {
    const { items } = await world.ask(listWorkersEndpoint, { pool: 'spare', state: 'running' });
    return items.length >= many ? items : undefined;
  });

/** What people do and see besides jobs. */
export const PEOPLE = {
  paused_sweep: {
    cause: 'a person pauses the sweep that deletes ended pods',
    says: /^the demo: “an incident is being read from the pods”$/,
    async play(world) {
      const note = 'an incident is being read from the pods';
      const given = { how: 'pause', subject: 'delete-ended-pods', note };
      const { held } = await world.ask(turnSwitchEndpoint, given);
      return { path: '/switches', sentence: `${held?.by}: “${held?.note}”` };
    },
  },
  resync: {
    cause: 'a person has the runs of acme/shop compared with the jobs',
    says: /^discover-jobs OK: /,
    async play(world) {
      const path = { owner: 'acme', repository: 'shop' };
      const note = 'is a run missing?';
      return ended(world, await world.ask(resyncRepositoryEndpoint, { ...path, note }));
    },
  },
  failed_operation: {
    cause: 'a person asks for a delivery that GitHub has not',
    says: /^redeliver ERROR: .*no App's log has the delivery/,
    async play(world) {
      const delivery = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
      return ended(world, await world.ask(redeliverDeliveryEndpoint, { delivery }));
    },
  },
  unresolved_delivery: {
    cause: 'the webhook address of an App leads nowhere, also when GitHub sends a delivery again',
    says: /^workflow_job\.queued failed with 502, and GitHub was asked for it \d+ times?$/,
    async play(world) {
      await world.github.setApp(DEAF_APP, { webhookUrl: null });
      await world.queue('pied-piper/app', 'x64');
      const { event, lastStatusCode, requests } = await world.until('a request', async () => {
        const { items } = await world.ask(listRedeliveriesEndpoint, {});
        return items.find((one) => one.requests > 0);
      });
      const asked = `${requests} ${requests === 1 ? 'time' : 'times'}`;
      const sentence = `${event} failed with ${lastStatusCode}, and GitHub was asked for it ${asked}`;
      return { path: '/redeliveries', sentence };
    },
  },
  warm: {
    cause: 'the file asks for two warm workers of the pool spare',
    says: /^2 workers of the pool spare are kept warm$/,
    async play(world) {
      changePool(world, 'spare', { warm: [{ scope: 'acme', workers: 2 }] });
      const { length } = await warmWorkers(world, 2);
      return {
        path: '/pools/spare',
        sentence: `${length} workers of the pool spare are kept warm`,
      };
    },
  },
  draining: {
    cause: 'a person drains a warm worker whose log the cluster cannot read',
    says: /^drained, held up: .*log/,
    async play(world) {
      const [{ name: worker } = { name: '' }] = await warmWorkers(world, 2);
      const path = `/pods/${worker}/log`;
      await world.cluster.failNext({ path, status: 500, reason: 'InternalError', times: ALWAYS });
      await world.ask(drainEndpoint, { of: 'worker', name: worker, note: 'its node is looked at' });
      let seen = '';
      const { stop, stopHeldBy } = await world.until(
        () => `the drain of ${worker} is held up; it was ${seen}`,
        async () => {
          const found = await world.ask(findWorkerEndpoint, { worker });
          seen = JSON.stringify(found);
          return found.stopHeldBy === null ? undefined : found;
        },
      );
      return { path: `/workers/${worker}`, sentence: `${stop?.reason}, held up: ${stopHeldBy}` };
    },
  },
  usage: {
    cause: 'a person has the usage summed up now',
    says: /^upkeep OK: /,
    play: async (world) => ended(world, await world.ask(runSweepEndpoint, { sweep: 'upkeep' })),
  },
} as const satisfies Record<string, Stop>;
