import { afterEach, beforeEach } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { late } from '@paddock/testing/use-test-database';
import { type DiscoveryScene, startDiscoveryScene } from './discovery.scene.ts';
import { type JobsScene, startJobsScene } from './jobs.scene.ts';
import {
  type RedeliveryScene,
  type RedeliverySceneOptions,
  startRedeliveryScene,
} from './redelivery.scene.ts';
import { type RegistrationsScene, startRegistrationsScene } from './registrations.scene.ts';
import { startSweeps, type SweepsScene } from './sweeps.scene.ts';

/** A scene for each test, stopped after it. */
function useScene<T extends object>(start: () => Promise<T>, stop: (scene: T) => Promise<void>): T {
  let scene: T;
  beforeEach(async () => {
    scene = await start();
  });
  afterEach(() => stop(scene));
  return late(() => scene);
}

const stop = (scene: { stop(): Promise<void> }): Promise<void> => scene.stop();

export const useJobsScene = (database: TestDatabase): JobsScene =>
  useScene(() => startJobsScene(database), stop);

export const useDiscoveryScene = (database: TestDatabase): DiscoveryScene =>
  useScene(() => startDiscoveryScene(database), stop);

export const useRedeliveryScene = (
  database: TestDatabase,
  options?: RedeliverySceneOptions,
): RedeliveryScene => useScene(() => startRedeliveryScene(database, options), stop);

export const useRegistrationsScene = (database: TestDatabase): RegistrationsScene =>
  useScene(() => startRegistrationsScene(database), stop);

export const useSweeps = (database: TestDatabase): SweepsScene =>
  useScene(
    () => startSweeps(database),
    (sweeps) => sweeps.scene.stop(),
  );
