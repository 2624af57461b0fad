import { computed, effect, signal } from '@preact/signals';
import { hrefOf } from './base.ts';
import { session } from './session-signal.ts';

/** Tables of the database, by whose changes answers grow old. */
export type Watched =
  | 'jobs'
  | 'workers'
  | 'demand_keys'
  | 'breakers'
  | 'pools_documents'
  | 'stopped_making'
  | 'paused_sweeps'
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

/** Whether changes arrive now. */
export const isConnected = signal(false);

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

/**
 * After these the console is asked again whether it has a place. The browser comes again by itself
 * where a stream just ended.
 */
const AGAIN_MS = 15_000;

function see(): void {
  isHidden.value = document.visibilityState === 'hidden';
}

/** Listens to changes while somebody has signed in, looks, and has not paused. */
export function followChanges(): void {
  document.addEventListener('visibilitychange', see);
  see();
  effect(() => {
    if (isResting.value || session.value === null || session.value === undefined) return undefined;
    return listen(showsPools.value);
  });
}

function listen(withPools: boolean): () => void {
  let again: ReturnType<typeof setTimeout>;
  let source: EventSource;
  const open = () => {
    source = new EventSource(hrefOf(`/changes${withPools ? '?pools' : ''}`));
    source.addEventListener('open', () => (isConnected.value = true));
    source.addEventListener('error', () => {
      isConnected.value = false;
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
    });
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      const tables = JSON.parse(data) as string[];
      for (const listener of listeners) listener(tables);
    });
    source.addEventListener('pools', ({ data }: MessageEvent<string>) => {
      pushedPools.value = JSON.parse(data);
    });
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
    isConnected.value = false;
  };
}
