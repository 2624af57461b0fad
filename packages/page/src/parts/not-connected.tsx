import { connection, isPaused, lastNewsAt } from '../state/live.ts';
import { Ago, At } from './time.tsx';

/** Says that what is shown may be old, since when, and goes by itself. */
export const NotConnected = () =>
  connection.value !== 'lost' || isPaused.value ? null : (
    <p class="trouble" role="alert">
      <strong>Not connected</strong>
      {lastNewsAt.value !== undefined && (
        <>
          , last news at <At at={lastNewsAt.value} /> UTC, <Ago at={lastNewsAt.value} />
        </>
      )}
      . What is shown may be old: the console, its database or the way there hangs. The page tries
      again by itself.
    </p>
  );
