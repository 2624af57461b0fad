import { Link } from './parts/link.tsx';
import { connection, isPaused } from './state/live.ts';
import { go } from './state/place.ts';
import { signOut } from './state/session.ts';
import { session } from './state/session-signal.ts';
import { switchTheme, theme } from './state/theme.ts';
import { BAR } from './views/views.ts';

const NAMES = { auto: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' } as const;
const SIGNS = { auto: '◐', light: '☀', dark: '☾' } as const;

/** The bar above every view. */
export function Bar({ path }: { path: string }) {
  const isHere = (to: string) =>
    to === '/'
      ? path === '/' || path.startsWith('/pools')
      : path === to || path.startsWith(`${to}/`);
  return (
    <header class="top">
      <Link to="/" class="name">
        Paddock
      </Link>
      <nav aria-label="Views">
        {BAR.map(([to, name]) => (
          <Link key={to} to={to} {...(isHere(to) && { 'aria-current': 'page' })}>
            {name}
          </Link>
        ))}
      </nav>
      <Find />
      <Live />
      <button
        type="button"
        class="plain"
        title={NAMES[theme.value]}
        aria-label={`${NAMES[theme.value]}: switch`}
        onClick={switchTheme}
      >
        {SIGNS[theme.value]}
      </button>
      <details class="person">
        <summary>{session.value?.person.replace(/^(token|person) /, '')}</summary>
        <div>
          <p>
            {session.value?.person}, who may{' '}
            {session.value?.access === 'operate' ? 'read and act' : 'read'}
          </p>
          {session.value?.isSession && (
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
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const text = new FormData(form).get('find');
  if (typeof text !== 'string' || text.trim() === '') return;
  form.reset();
  go(`/find?${new URLSearchParams({ text: text.trim() }).toString()}`);
}

function Find() {
  return (
    <search class="find">
      <form onSubmit={find}>
        <input
          name="find"
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
