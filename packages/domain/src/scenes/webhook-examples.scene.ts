import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
export const definitions = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}[];
const examplesOf = (event: string) =>
  definitions.find(({ name }) => name === event)?.examples ?? [];
export const example = (event: string, index: number): Record<string, unknown> =>
  structuredClone(examplesOf(event)[index] ?? {});

/** A workflow_job payload with other fields in the job. */
export const withJob = (index: number, changes: object) => {
  const payload = example('workflow_job', index);
  return { ...payload, workflow_job: { ...(payload['workflow_job'] as object), ...changes } };
};
