import { readForm } from './parts/form.tsx';
import { Link } from './parts/inline.tsx';
import { at } from './paths.ts';
import { connection, isPaused } from './state/live.ts';
import { go } from './state/place.ts';
import { session } from './state/request.ts';
import { signOut } from './state/session.ts';
import { switchTheme, theme } from './state/theme.ts';
import { isLocal, switchZone } from './state/zone.ts';
import { BAR } from './views/views.ts';

const THEMES = {
  auto: ['◐', 'Theme of the system'],
  light: ['☀', 'Light theme'],
  dark: ['☾', 'Dark theme'],
} as const;

/** The bar above every view. */
export function Bar({ path }: { path: string }) {
  const isHere = (to: string) =>
    to === '/'
      ? path === '/' || path.startsWith('/pools')
      : path === to || path.startsWith(`${to}/`);
  const [sign, name] = THEMES[theme.value];
  const { person, access, isSession } = session.value ?? {};
  return (
    <header class="top">
      <Link to="/" class="name">
        Paddock
      </Link>
      <nav aria-label="Views">
        {BAR.map(([to, view]) => (
          <Link key={to} to={to} {...(isHere(to) && { 'aria-current': 'page' })}>
            {view}
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
      <details class="person">
        <summary>{person?.replace(/^(token|person) /, '')}</summary>
        <div>
          <p>
            {person}, who may {access === 'operate' ? 'read and act' : 'read'}
          </p>
          {isSession && (
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          )}
        </div>
      </details>
    </header>
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
