import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listen } from './stream.ts';

/** As a browser's: its tests say what arrives. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 1;
  close(): void {
    this.readyState = Source.CLOSED;
  }
  say(event: string, data = ''): void {
    this.dispatchEvent(new MessageEvent(event, { data }));
  }
}

function follow() {
  const sources: Source[] = [];
  const heard: string[] = [];
  const stop = listen(
    () => {
      const source = new Source();
      sources.push(source);
      return source as unknown as EventSource;
    },
    {
      news: () => heard.push('news'),
      broken: () => heard.push('broken'),
      silent: () => heard.push('silent'),
      on: { changed: (data) => heard.push(data) },
    },
  );
  return {
    sources,
    heard,
    stop,
    say: (event: string, data?: string) => sources.at(-1)?.say(event, data),
  };
}

describe('the stream of changes (F4)', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    Object.assign(globalThis, { EventSource: Source });
  });
  afterEach(() => {
    jest.useRealTimers();
    Reflect.deleteProperty(globalThis, 'EventSource');
  });

  test('that nothing comes by for 25 s is lost and opened anew, and recovers by itself', () => {
    const { sources, heard, say, stop } = follow();
    say('open');
    for (let n = 0; n < 6; n += 1) {
      jest.advanceTimersByTime(10_000);
      say('alive', '10000');
    }
    expect([new Set(heard), sources.length]).toEqual([new Set(['news']), 1]);
    heard.length = 0;
    jest.advanceTimersByTime(24_999);
    expect(heard).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(heard).toEqual(['silent']);
    expect(sources.map(({ readyState }) => readyState)).toEqual([Source.CLOSED, 1]);
    // It hangs on: nothing answers the new one either.
    jest.advanceTimersByTime(25_000);
    expect([heard, sources.length]).toEqual([['silent', 'silent'], 3]);
    say('open');
    say('changed', '["jobs"]');
    expect(heard.slice(2)).toEqual(['news', 'news', '["jobs"]']);
    stop();
    jest.advanceTimersByTime(100_000);
    expect([heard.length, sources.length, sources[2]?.readyState]).toEqual([5, 3, Source.CLOSED]);
  });

  test('has more patience with a console that looks seldom', () => {
    const { heard, say } = follow();
    say('alive', '60000');
    jest.advanceTimersByTime(149_999);
    expect(heard).toEqual(['news']);
    jest.advanceTimersByTime(1);
    expect(heard).toEqual(['news', 'silent']);
  });

  test('that is refused time and again is lost all the same', () => {
    const { sources, heard } = follow();
    const refuse = () => {
      sources.at(-1)?.close();
      sources.at(-1)?.say('error');
    };
    refuse();
    jest.advanceTimersByTime(15_000);
    expect(sources).toHaveLength(2);
    refuse();
    jest.advanceTimersByTime(10_000);
    expect(heard).toEqual(['broken', 'broken', 'silent']);
    expect(sources).toHaveLength(3);
    jest.advanceTimersByTime(5_000);
    expect(sources).toHaveLength(3);
  });
});
