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
      expect(parseDelivery('workflow_job', JSON.parse(reduced))).toEqual(parseDelivery('workflow_job', example));
      expect(JSON.parse(reduced)).toMatchObject({ reduced_from: { bytes: full.length } });
    }
  });
});
