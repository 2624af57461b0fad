import { expect, test } from '@jest/globals';
import { tellAction, textOf } from './tell-action.ts';

test.each([
  ['setSwitch', { subject: 'pool:gpu' }, 'stopped the making of workers of the pool gpu'],
  ['liftSwitch', { subject: 'entity:90' }, 'let go on the making of workers for 90'],
  ['setSwitch', { subject: 'discover-jobs:acme/api' }, 'stopped resyncs of acme/api'],
  ['setSwitch', { subject: 'upkeep' }, 'stopped the sweep upkeep'],
  ['drainPool', { pool: 'gpu', dryRun: 'true' }, 'counted what to drain in the pool gpu'],
  ['runSweep', { sweep: 'redeliver', app: 7 }, 'ran the sweep redeliver of the App 7'],
  ['resyncRepository', { owner: 'acme', repository: 'api' }, 'had a resync of acme/api'],
  ['retryOperation', { operation: 'o' }, 'repeated the operation o'],
  ['ofAnotherVersion', { pool: 'gpu' }, 'ofAnotherVersion gpu'],
])('%s of %j is “%s”', (endpoint, subject, text) => {
  expect(textOf(tellAction(endpoint, subject))).toBe(text);
});
