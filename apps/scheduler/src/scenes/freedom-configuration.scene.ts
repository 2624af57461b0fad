import { examplePools } from '@paddock/testing/demand-rows';

/**
 * No cap is large, so that all of them bind now and then. A runner of `large` fits every job of
 * `linux`.
 */
export const CAPS = { entity: 4, linux: 5, large: 3, gpu: 3, gpuRepository: 1 };

/** One worker of `linux` is kept idle for an organisation, one for a repository. */
const WARM = ['acme', 'sam/one'].map((scope) => ({ scope, workers: 1 }));

const LINUX = { name: 'linux', labels: ['self-hosted', 'linux'], maxWorkers: CAPS.linux };
const LARGE = { name: 'large', labels: ['self-hosted', 'linux', 'large'], maxWorkers: CAPS.large };
const GPU = {
  name: 'gpu',
  labels: ['linux', 'gpu'],
  registration: 'repository' as const,
  maxWorkers: CAPS.gpu,
  maxWorkersPerRepository: CAPS.gpuRepository,
};
const entity = { maxWorkers: CAPS.entity };

/**
 * The configuration: everything, or a part of it, so that existing runners get jobs of no
 * configured pool or entity.
 */
export const DOCUMENTS = {
  all: examplePools({ pools: [{ ...LINUX, warm: WARM }, LARGE, GPU], entities: { '*': entity } }),
  some: examplePools({ pools: [LINUX, GPU], entities: { acme: entity, globex: entity } }),
};

export const LABELS = [
  ['linux'],
  ['self-hosted', 'linux'],
  ['linux', 'large'],
  ['large'],
  ['gpu'],
] as const;
export const REPOSITORIES = {
  acme: ['api', 'web'],
  globex: ['core'],
  sam: ['one', 'two'],
} as const;
/** A job that takes so long ends only when it is cancelled. */
export const ENDLESS_MS = 600_000;
export const ENTITIES = ['acme', 'globex', 'sam'] as const;
export type EntityKey = (typeof ENTITIES)[number];
