import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { runCommand } from '../run-command.ts';
import { describeFleet, type Fleet, frame } from './fleet.ts';
import { showLive } from './live.ts';

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 500).toISOString();

const pool = (name: string, waiting: number): Fleet['pools'][number] => ({
  name,
  inForce: true,
  labels: [],
  demand: { waiting, oldestSince: waiting === 0 ? null : minutesAgo(90), oldestJob: null },
  supply: { starting: 1, idle: 2, busy: 3, stopping: 0 },
  cap: { used: 6, limit: 10 },
  lastHour: { started: 2, queuedP50Ms: 400, queuedP95Ms: 7_260_000 },
});

const FLEET: Fleet = {
  at: '2026-01-31T09:00:00.000Z',
  pools: [
    pool('quiet', 0),
    pool('busy', 7),
    ...Array.from({ length: 20 }, (_, n) => pool(`p${n}`, 1)),
  ],
  waits: [
    { reason: 'at_pool_cap', waiting: 7, pools: ['busy'], oldestSince: minutesAgo(49 * 60) },
    { reason: 'none', waiting: 20, pools: ['p0', 'p1'], oldestSince: minutesAgo(-1) },
  ] as Fleet['waits'],
  failed: { workers: [], operations: [] },
};

describe('what top shows (D12)', () => {
  test('is the fleet, with the pools first for which most jobs wait', () => {
    const lines = describeFleet(FLEET).split('\n');
    expect(lines[1]).toMatch(/^busy +7 +1 h 30 min +1 +2 +3 +0 +6\/10 +< 1 s +2 h 1 min$/);
    expect(lines[25]).toMatch(/^7 +at_pool_cap +2 d 1 h +busy$/);
    expect(lines[26]).toMatch(/^20 +their workers are on the way +0 s +p0, p1$/);
    expect(lines[28]).toBe('Nothing has failed in the last day.');
  });

  test.each([
    [10, /paddock top[^]*\nand \d+ more\n/],
    [24, /\nand \d+ more\n[^]*\nJOBS +WAIT BECAUSE +OLDEST +POOLS\n/],
    [40, /\np19 [^]*\nJOBS +WAIT BECAUSE +OLDEST +POOLS\n[^]*\nNothing has failed/],
  ])('fits on a screen of %i lines, and says how much is left out', (height, shown) => {
    const lines = frame(FLEET, { title: 'paddock top', trouble: 'no answer' }, height);
    expect(lines.length).toBeLessThanOrEqual(height);
    expect(lines.at(-1)).toBe('no answer');
    expect(lines.join('\n')).toMatch(shown);
  });
});

/** A terminal's streams, and what is done to them. */
const open = () => {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
  });
  const output = Object.assign(new PassThrough(), { isTTY: true, rows: 10 });
  let written = '';
  output.on('data', (text: Buffer) => {
    written += text.toString();
  });
  return { input, output, notes: output, modes, written: () => written };
};

describe('top on a terminal', () => {
  test.each(['q', '\u0003'])('draws again and again until %j, and restores it', async (key) => {
    const terminal = open();
    let reads = 0;
    const shown = showLive(terminal, {
      intervalMs: 1,
      refresh: () => {
        reads += 1;
        return Promise.resolve();
      },
      draw: (height) => [`${reads} of ${height}`],
    });
    await waitFor('some draws', () => terminal.written().includes('2 of 10'));
    Object.assign(terminal.output, { rows: 20 });
    terminal.output.emit('resize');
    await waitFor('the new size', () => terminal.written().includes('of 20'));
    terminal.input.write(`x${key}`);
    await shown;
    expect(terminal.modes).toEqual([true, false]);
    expect(terminal.written().startsWith('\u001B[?1049h\u001B[?25l')).toBe(true);
    expect(terminal.written().endsWith('\u001B[?25h\u001B[?1049l')).toBe(true);
    const { input, output } = terminal;
    expect(input.listenerCount('data') + output.listenerCount('resize')).toBe(0);
  });

  test('ends at once, also while an answer is under way', async () => {
    const terminal = open();
    let reads = 0;
    const shown = showLive(terminal, {
      intervalMs: 1,
      refresh: () => {
        reads += 1;
        return new Promise(() => {});
      },
      draw: () => [],
    });
    await waitFor('a question', () => reads === 1);
    terminal.input.write('q');
    await shown;
    expect(reads).toBe(1);
  });

  test('a first mistake is a plain line, and nothing is drawn', async () => {
    const terminal = open();
    const environment = { PADDOCK_URL: 'http://127.0.0.1:1', PADDOCK_TOKEN: 'x' };
    expect(await runCommand(['top'], environment, terminal)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Is PADDOCK_URL right'),
    });
    expect(terminal.written()).toBe('');
  });
});
