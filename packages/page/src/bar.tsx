import { useEffect, useRef } from 'preact/hooks';
import { readForm } from './parts/form.tsx';
import { Link } from './parts/inline.tsx';
import { at } from './paths.ts';
import { connection, isPaused } from './state/live.ts';
import { go, place } from './state/place.ts';
import { session } from './state/request.ts';
import { signOut } from './state/session.ts';
import { switchTheme, theme } from './state/theme.ts';
import { isLocal, switchZone } from './state/zone.ts';
import { BAR, entryOf, isBelow } from './views/views.ts';

const THEMES = {
  auto: ['◐', 'Theme of the system'],
  light: ['☀', 'Light theme'],
  dark: ['☾', 'Dark theme'],
} as const;

export function Bar({ path }: { path: string }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const shown = place.value;
  // Its links lead on: it has done its work then.
  useEffect(() => menu.current?.removeAttribute('open'), [shown]);
  const here = entryOf(path);
  const views = Object.entries(here?.views ?? {});
  const [sign, name] = THEMES[theme.value];
  const { person, access, isSession } = session.value ?? {};
  return (
    <>
      <header class="top">
        <Link to="/" class="name">
          Paddock
        </Link>
        <nav aria-label="Views">
          {BAR.map((entry) => (
            <Link
              key={entry.name}
              to={Object.keys(entry.views)[0] ?? '/'}
              {...(entry === here && { 'aria-current': 'page' })}
            >
              {entry.name}
            </Link>
          ))}
        </nav>
        <Find />
        <Live />
        <button
          type="button"
          class="plain"
          title={name}
          aria-label={`${name}: switch`}
          onClick={switchTheme}
        >
          {sign}
        </button>
        <button
          type="button"
          class="plain"
          title="The zone of instants: switch between UTC and your own"
          onClick={switchZone}
        >
          {isLocal.value ? 'Local' : 'UTC'}
        </button>
        <details class="person" ref={menu}>
          <summary>{person?.replace(/^(token|person) /, '')}</summary>
          <div>
            <p>
              {person}, who may {access === 'operate' ? 'read and act' : 'read'}
            </p>
            {access === 'operate' && (
              <p>
                <Link to="/tokens">Tokens</Link>
              </p>
            )}
            {isSession && (
              <button type="button" onClick={() => void signOut()}>
                Sign out
              </button>
            )}
          </div>
        </details>
      </header>
      {views.length > 1 && (
        <nav class="tabs" aria-label={here?.name}>
          {views.map(([to, view]) => (
            <Link key={to} to={to} {...(isBelow(path, to) && { 'aria-current': 'page' })}>
              {view}
            </Link>
          ))}
        </nav>
      )}
    </>
  );
}

function find(event: Event): void {
  const { text } = readForm(event);
  if (text === undefined) return;
  (event.currentTarget as HTMLFormElement).reset();
  go(at`/find?text=${text}`);
}

function Find() {
  return (
    <search class="find">
      <form onSubmit={find}>
        <input
          name="text"
          type="search"
          aria-label="Find by an id, a name or an address at GitHub"
          placeholder="Find: id, name, login or URL"
          maxLength={1000}
          autocomplete="off"
          spellcheck={false}
        />
      </form>
    </search>
  );
}

const STATES = {
  paused: 'Paused',
  live: 'Live',
  connecting: 'Connecting',
  lost: 'Not connected',
} as const;

/** Whether the page moves by itself. Paused, it asks for nothing until somebody wants it to. */
function Live() {
  const state = isPaused.value ? 'paused' : connection.value;
  return (
    <button
      type="button"
      class={`live ${state}`}
      aria-pressed={isPaused.value}
      title={isPaused.value ? 'Go on' : 'Pause: nothing moves, nothing is asked'}
      onClick={() => (isPaused.value = !isPaused.value)}
    >
      {STATES[state]}
    </button>
  );
}
