import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { connection, follow, onChange } from './live.ts';

/** As a browser's: its tests say what arrives. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static all: Source[] = [];
  readyState = 1;
  constructor() {
    super();
    Source.all.push(this);
  }
  close(): void {
    this.readyState = Source.CLOSED;
  }
  say(event: string, data = ''): void {
    this.dispatchEvent(new MessageEvent(event, { data }));
  }
}

const say = (event: string, data?: string) => Source.all.at(-1)?.say(event, data);

function refuse(): void {
  Source.all.at(-1)?.close();
  say('error');
}

/** How the page says that it is connected, after so long; and how often it has connected. */
function after(ms: number) {
  jest.advanceTimersByTime(ms);
  return [connection.value, Source.all.length];
}

describe('the stream of changes (F4)', () => {
  let stop: () => void;
  beforeEach(() => {
    jest.useFakeTimers();
    Source.all = [];
    Object.assign(globalThis, { EventSource: Source });
    stop = follow();
  });
  afterEach(() => {
    stop();
    jest.useRealTimers();
    Reflect.deleteProperty(globalThis, 'EventSource');
  });

  test('that nothing comes by for 25 s is lost and opened anew, and recovers by itself', () => {
    const heard: unknown[] = [];
    const forget = onChange((tables) => heard.push(tables));
    say('open');
    for (let n = 0; n < 6; n += 1) {
      expect(after(10_000)).toEqual(['live', 1]);
      say('alive');
    }
    expect(after(24_999)).toEqual(['live', 1]);
    expect(after(1)).toEqual(['lost', 2]);
    expect(Source.all.map(({ readyState }) => readyState)).toEqual([Source.CLOSED, 1]);
    // It hangs on: nothing answers the new one either.
    expect(after(25_000)).toEqual(['lost', 3]);
    say('open');
    say('changed', '["jobs"]');
    expect([heard, ...after(0)]).toEqual([[['jobs']], 'live', 3]);
    stop();
    forget();
    expect(after(100_000)).toEqual(['connecting', 3]);
    expect(Source.all[2]?.readyState).toBe(Source.CLOSED);
  });

  test('that is refused time and again is lost all the same', () => {
    refuse();
    expect(after(15_000)).toEqual(['connecting', 2]);
    refuse();
    expect(after(10_000)).toEqual(['lost', 3]);
    expect(after(5_000)).toEqual(['lost', 3]);
  });
});
