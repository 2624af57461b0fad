import type { Watched } from '@paddock/api/sessions/read-changes';
import { computed, effect, signal } from '@preact/signals';
import { now } from './clock.ts';
import { hrefOf } from './place.ts';
import { session } from './request.ts';

export type { Watched };

/** The person has stopped the page where it is: it asks for nothing by itself. */
export const isPaused = signal(false);

/** Nobody looks. */
const isHidden = signal(false);

/** Whether changes arrive now; `lost`: nothing has come for longer than the console is ever silent. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

/** When the console last said anything, in ISO 8601. Undefined: it never did. */
export const lastNewsAt = signal<string | undefined>();

/** The page neither moves nor asks. */
export const isResting = computed(() => isPaused.value || isHidden.value);

type Listener = (tables: readonly string[]) => void;

const listeners = new Set<Listener>();

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function see(): void {
  isHidden.value = document.visibilityState === 'hidden';
}

/** Listens to changes while somebody has signed in, looks, and has not paused. */
export function followChanges(): void {
  document.addEventListener('visibilitychange', see);
  see();
  effect(() => {
    if (isResting.value || !session.value) return undefined;
    return follow();
  });
}

/** Where the console had no place; after a stream's end the browser comes again by itself. */
const AGAIN_MS = 15_000;

/** The console says every 10 s that it is alive: one sign may be late, and another one get lost. */
const PATIENCE_MS = 25_000;

/** Follows the stream of changes until the result is called. */
export function follow(): () => void {
  let again: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const watch = () => {
    clearTimeout(silence);
    silence = setTimeout(reopen, PATIENCE_MS);
  };
  const connect = () => {
    const opened = new EventSource(hrefOf('/changes'));
    source = opened;
    const on = (name: string, act?: (data: string) => void) =>
      opened.addEventListener(name, ({ data }: Event & { data?: string }) => {
        act?.(data ?? '');
        watch();
        connection.value = 'live';
        lastNewsAt.value = new Date(now.peek()).toISOString();
      });
    on('open');
    on('alive');
    on('changed', (data) => {
      const tables = JSON.parse(data) as string[];
      for (const listener of listeners) listener(tables);
    });
    opened.addEventListener('error', () => {
      if (connection.peek() === 'live') connection.value = 'connecting';
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(connect, AGAIN_MS);
    });
  };
  const stop = () => {
    clearTimeout(again);
    clearTimeout(silence);
    source.close();
  };
  // The console, its database or the way there hangs: the old connection may be dead without an end.
  const reopen = () => {
    connection.value = 'lost';
    stop();
    connect();
    watch();
  };
  connect();
  watch();
  return () => {
    stop();
    connection.value = 'connecting';
  };
}
