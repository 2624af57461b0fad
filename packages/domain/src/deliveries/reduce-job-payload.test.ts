import { describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { parseDelivery } from './parse-delivery.ts';
import { reduceJobPayload } from './reduce-job-payload.ts';

const require = createRequire(import.meta.url);
const definitions = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly object[];
}[];

describe('reduceJobPayload', () => {
  test('every example shrinks to a fifth or less and still reads as the same delivery (A4, B4)', () => {
    for (const example of definitions.find(({ name }) => name === 'workflow_job')?.examples ?? []) {
      const full = JSON.stringify(example);
      const reduced = reduceJobPayload(example, full.length);
      expect(reduced.length).toBeLessThan(full.length / 5);
      expect(parseDelivery('workflow_job', JSON.parse(reduced))).toEqual(
        parseDelivery('workflow_job', example),
      );
      expect(JSON.parse(reduced)).toMatchObject({ reduced_from: { bytes: full.length } });
    }
  });

  test('a job’s requirements stay, and the number of its steps (A4)', () => {
    const job = {
      id: 1,
      run_attempt: 2,
      status: 'queued',
      labels: [],
      steps: [{}, {}],
      head_sha: 'x',
    };
    const sender = { id: 3, login: 'mona', type: 'User', url: 'x' };
    expect(
      JSON.parse(
        reduceJobPayload(
          { action: 'queued', workflow_job: job, sender, installation: { id: 4, node_id: 'x' } },
          9,
        ),
      ),
    ).toEqual({
      action: 'queued',
      workflow_job: { id: 1, run_attempt: 2, status: 'queued', labels: [] },
      repository: { owner: {} },
      installation: { id: 4 },
      sender: { id: 3, login: 'mona', type: 'User' },
      reduced_from: { bytes: 9, steps: 2 },
    });
  });

  test('unexpected content of a field is cut, and no number is rounded (A4)', () => {
    const job = {
      id: 1,
      status: { nested: 12345678901234567890n },
      created_at: 2 ** 60,
      labels: ['linux'],
      runner_name: null,
    };
    const reduced: unknown = JSON.parse(
      reduceJobPayload(
        { action: 'queued', workflow_job: job, sender: { id: 2 ** 53, login: 'a' } },
        9,
      ),
    );
    expect(reduced).toMatchObject({
      workflow_job: { id: 1, labels: ['linux'], runner_name: null },
      sender: { login: 'a' },
    });
    expect(JSON.stringify(reduced)).not.toMatch(/status|created_at|9007199254740992/);
  });
});
