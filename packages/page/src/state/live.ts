import { computed, effect, signal } from '@preact/signals';
import { hrefOf } from './base.ts';
import { now } from './clock.ts';
import { session } from './session-signal.ts';
import { listen } from './stream.ts';

/** Tables of the database, by whose changes answers grow old. */
export type Watched =
  | 'jobs'
  | 'workers'
  | 'demand_keys'
  | 'outages'
  | 'pools_documents'
  | 'switches'
  | 'tasks'
  | 'operations'
  | 'installations'
  | 'installation_events'
  | 'actions'
  | 'tokens';

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

/** Views that show the list of pools, which travels with the changes. */
export const showsPools = signal(false);

/** The newest list of pools that came by itself. */
export const pushedPools = signal<unknown>(undefined);

type Listener = (tables: readonly string[]) => void;

const listeners = new Set<Listener>();

/** Calls `listener` with the tables that changed. Call the result to end that. */
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
    if (isResting.value || session.value === null || session.value === undefined) return undefined;
    return follow(showsPools.value);
  });
}

/** The stream itself, for as long as the page may move. */
const follow = (withPools: boolean): (() => void) => {
  const stop = listen(() => new EventSource(hrefOf(`/changes${withPools ? '?pools' : ''}`)), {
    news() {
      connection.value = 'live';
      lastNewsAt.value = new Date(now.peek()).toISOString();
    },
    broken() {
      if (connection.peek() === 'live') connection.value = 'connecting';
    },
    silent() {
      connection.value = 'lost';
    },
    on: {
      changed(data) {
        const tables = JSON.parse(data) as string[];
        for (const listener of listeners) listener(tables);
      },
      pools(data) {
        pushedPools.value = JSON.parse(data);
      },
    },
  });
  return () => {
    stop();
    connection.value = 'connecting';
  };
};
