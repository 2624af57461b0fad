import { describe, expect, test } from '@jest/globals';
import { createWriteHealth } from './write-health.ts';

describe('whether deliveries can be written', () => {
  test('the newest batch decides, and a failure is forgotten after a while, so that one delivery may try (B5)', () => {
    let now = 0;
    const writes = createWriteHealth(() => now);
    expect(writes.whyNot()).toBeUndefined();
    writes.failed(new Error('canceling statement due to lock timeout'));
    expect(writes.whyNot()).toContain('refused with 503: canceling statement due to lock timeout');
    now = 10_001;
    expect(writes.whyNot()).toBeUndefined();
    writes.failed(new Error('again'));
    writes.forget();
    expect(writes.whyNot()).toBeUndefined();
  });
});
