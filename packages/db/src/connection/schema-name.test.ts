import { describe, expect, test } from '@jest/globals';
import { assertSchemaName, queueEventChannel, taskEventChannel } from './schema-name.ts';

describe('schema names (A8)', () => {
  test.each(['prod', 'staging', '_x', 'a1_b', 'a'.repeat(51)])(
    '%s can be used, and its channels fit into 63 bytes',
    (name) => {
      expect(() => assertSchemaName(name)).not.toThrow();
      expect(
        Math.max(queueEventChannel(name).length, taskEventChannel(name).length),
      ).toBeLessThanOrEqual(63);
    },
  );

  test.each([
    '',
    'Prod',
    '1st',
    'a-b',
    'a b',
    'a"b',
    "a'b",
    'a;b',
    'pg_mine',
    'größe',
    'a.b',
    'a\nb',
    'a'.repeat(52),
  ])('%j is refused', (name) => {
    expect(() => assertSchemaName(name)).toThrow('plain lower-case identifier');
  });
});
