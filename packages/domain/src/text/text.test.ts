import { describe, expect, test } from '@jest/globals';
import { anyCharacter, fc } from '@paddock/testing/random-cases';
import { duration } from './duration.ts';
import { matchesGlob } from '../pools/gate.ts';
import { newestFailures } from './newest-failures.ts';
import { jsonText, repairJsonText, storable } from './storable.ts';
import { tellAction, textOf } from './tell-action.ts';

test('storable replaces NUL and lone surrogates, and nothing else (B9)', () => {
  expect(storable('a\0b\uD800c \uDE00 😀\n\u001b[0m')).toBe('a\uFFFDb\uFFFDc \uFFFD 😀\n\u001b[0m');
});

describe('repairJsonText', () => {
  test('replaces NUL and lone surrogates, however they are written (B9)', () => {
    expect(repairJsonText(String.raw`{"a\u0000":"\uD83D x \ude00 \udE00\uD83d"}`)).toEqual({
      text: String.raw`{"a\ufffd":"\ufffd x \ufffd \ufffd\ufffd"}`,
      isRepaired: true,
    });
  });

  test('text without such escapes needs no repair', () => {
    expect(repairJsonText('{"a":1}')).toEqual({ text: '{"a":1}', isRepaired: false });
  });

  test.each(['dfff', 'd800', 'DFFF', 'D800', '0000'])(
    'half a pair at the edge, %s, cannot be stored',
    (code) => {
      const repaired = { text: String.raw`"\ufffd"`, isRepaired: true };
      expect(repairJsonText(`"\\u${code}"`)).toEqual(repaired);
    },
  );

  test.each(['d7ff', 'e000', '0001'])('%s can be stored', (code) => {
    expect(repairJsonText(`"\\u${code}"`)).toEqual({ text: `"\\u${code}"`, isRepaired: false });
  });

  test('leaves pairs, escaped backslashes and big numbers as they are', () => {
    const text = String.raw`{"pair":"\ud83d\uDE00","path":"C:\\u0000 \\\\ud800","number":12345678901234567890.10}`;
    expect(repairJsonText(text)).toEqual({ text, isRepaired: false });
    expect(repairJsonText(String.raw`["\\u0000\u0000"]`)).toEqual({
      text: String.raw`["\\u0000\ufffd"]`,
      isRepaired: true,
    });
  });

  test('JavaScript decodes it to the same values as before, with the bad characters replaced', () => {
    const anyText = fc
      .array(
        fc.oneof(
          fc.constantFrom('\0', '\ud83d', '\ude00', '\\', 'u0000', '"'),
          fc.string({ unit: anyCharacter }),
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(anyText, (value) => {
        // Escapes every unit, so that pairs, too, appear as two escapes.
        const escaped = Array.from({ length: value.length }, (_, index) =>
          value.charCodeAt(index),
        ).map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`);
        for (const json of [JSON.stringify(value), `"${escaped.join('')}"`]) {
          expect(JSON.parse(repairJsonText(json).text)).toBe(
            value.toWellFormed().replaceAll('\0', '\ufffd'),
          );
        }
      }),
    );
  });
});

describe('jsonText', () => {
  test('is the JSON of any JSON value that PostgreSQL can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.stringify(value);
        // oxlint-disable-next-line no-control-regex -- NUL is what this is about
        fc.pre(!/\\u0000|\\ud[89a-f]/i.test(plain));
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(plain));
      }),
    );
  });

  test('replaces characters that JSONB cannot hold, in keys too', () => {
    expect(JSON.parse(jsonText({ 'a\0': ['\uD800', { b: 'x\0' }] }))).toEqual({
      'a\uFFFD': ['\uFFFD', { b: 'x\uFFFD' }],
    });
  });

  test('changes every string and key', () => {
    expect(jsonText({ me: ['me', 1, null] }, (text) => text.replaceAll('me', '*'))).toBe(
      '{"*":["*",1,null]}',
    );
  });

  test('is null for a value that JSON lacks, and refuses a value without text', () => {
    expect(jsonText(undefined)).toBe('null');
    expect(() => jsonText({ n: 1n })).toThrow(TypeError);
  });
});

test.each([
  [-5_000, '0 s'],
  [0, '0 s'],
  [400, '< 1 s'],
  [1_000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [620_000, '10 min'],
  [3_600_000, '1 h'],
  [3_660_000, '1 h 1 min'],
  [86_400_000, '1 d'],
  [90_000_000, '1 d 1 h'],
])('a length of time of %d ms is %s, never negative', (ms, said) => {
  expect(duration(ms)).toBe(said);
});

describe('matchesGlob', () => {
  test.each([
    ['acme', 'Acme', true],
    ['acme', 'acme2', false],
    ['acme-*', 'ACME-labs', true],
    ['acme-*', 'acme-', true],
    ['acme-*', 'acme', false],
    ['*', 'anything', true],
    ['*', 'acme/api', false],
    ['acme/*', 'acme/api', true],
    ['acme/*', 'acme', false],
    ['acme/*', 'acme2/api', false],
    ['*/infra', 'beta/infra', true],
    ['acme/api.*', 'acme/apixv1', false],
    ['acme/a*b*c', 'acme/a-c-b-c', true],
    ['acme/ab*ba', 'acme/aba', false],
    ['a**b', 'axb', true],
    ['x*aba*aba*y', 'xababay', false],
  ])('%s takes %s: %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  test('accepts the same texts as a regular expression of the same meaning', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (given, candidate) => {
        const same = new RegExp(`^${given.replaceAll(/\*+/g, '[^/]*')}$`);
        expect(matchesGlob(given, candidate)).toBe(same.test(candidate));
      }),
    );
  });

  test('a pattern that would keep an expression busy for ever is answered at once', () => {
    expect(matchesGlob('a*'.repeat(40_000) + 'b', 'a'.repeat(80_000))).toBe(false);
  });
});

test('failed workers and operations are one list, the newest first; one without a failure has no reason (D12)', () => {
  const worker = {
    name: 'w-1',
    pool: 'gpu',
    failure: 'OOMKilled',
    createdAt: '2026-01-31T08:00:00Z',
    completedAt: null,
  };
  const stillTold = { ...worker, name: 'w-2', completedAt: '2026-01-31T10:00:00Z' };
  const operation = {
    id: 'o-1',
    kind: 'remove-secret',
    subject: { id: 'w-0', name: null },
    failure: { message: '403 Forbidden' },
    queuedAt: '2026-01-31T07:00:00Z',
    finishedAt: '2026-01-31T09:00:00Z',
  };
  const untold = { ...operation, id: 'o-2', failure: null, finishedAt: null };
  const found = newestFailures([worker, stillTold], [operation, untold]);
  expect(found.map(({ what, id, name, of, why, at }) => [what, id, name, of, why, at])).toEqual([
    ['worker', 'w-2', 'w-2', 'gpu', 'OOMKilled', '2026-01-31T10:00:00Z'],
    ['operation', 'o-1', 'remove-secret', 'w-0', '403 Forbidden', '2026-01-31T09:00:00Z'],
    ['worker', 'w-1', 'w-1', 'gpu', 'OOMKilled', '2026-01-31T08:00:00Z'],
    ['operation', 'o-2', 'remove-secret', 'w-0', null, '2026-01-31T07:00:00Z'],
  ]);
});

const how = 'pause';

test.each([
  ['turnSwitch', { how, subject: 'pool:gpu' }, 'stopped the making of workers of the pool gpu'],
  [
    'turnSwitch',
    { how: 'resume', subject: 'entity:90' },
    'let go on the making of workers for acme',
  ],
  ['turnSwitch', { how, subject: 'discover-jobs:acme/api' }, 'stopped resyncs of acme/api'],
  ['turnSwitch', { how, subject: 'upkeep' }, 'stopped the sweep upkeep'],
  ['drain', { of: 'pool', name: 'gpu', dryRun: 'true' }, 'counted what to drain in the pool gpu'],
  ['runSweep', { sweep: 'redeliver', app: 7 }, 'ran the sweep redeliver of the App 7'],
  ['resyncRepository', { owner: 'acme', repository: 'api' }, 'had a resync of acme/api'],
  ['handleOperation', { operation: 'o', how: 'retry' }, 'repeated the operation o'],
  ['handleFailedOperations', { operation: 'o', how: 'discard' }, 'discarded the operation o'],
  ['ofAnotherVersion', { pool: 'gpu' }, 'ofAnotherVersion gpu'],
])('%s of %j is “%s”', (endpoint, subject, text) => {
  expect(textOf(tellAction({ endpoint, subject, login: 'acme' }))).toBe(text);
});
