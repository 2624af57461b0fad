import { useState } from 'preact/hooks';
import type { Trouble } from '../answers.ts';
import { readForm } from '../parts/form.tsx';
import { Heading, TroubleNote } from '../parts/view.tsx';
import { hrefOf, place } from '../state/place.ts';
import { refusedLink, signIn } from '../state/session.ts';

const refused = (detail: string): Trouble => ({ status: 401, title: 'Refused', detail });

const REFUSED = refused('This token is unknown, revoked, or for one thing only.');
const OLD_LINK = refused(
  'This link has been used, or is too old: it signs in once, within an hour.',
);

/** How a sign-in by the identity provider ended, as the address says. */
const ENDS: Readonly<Record<string, Trouble>> = {
  refused: refused(
    'You are signed in at your identity provider, but none of your groups may read here.',
  ),
  failed: {
    status: 502,
    title: 'Failed',
    detail:
      'Your identity provider did not sign you in, or took too long. The console’s log says why, once a minute.',
  },
};

/** Takes a token once, or leads to the identity provider. A cookie proves the session then. */
export function SignIn() {
  const [now, setTrouble] = useState<Trouble>();
  const trouble = now ?? troubleBefore();
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    const { token = '' } = readForm(event);
    setAsking(true);
    const why = await signIn(token);
    setTrouble(why?.status === 401 ? REFUSED : why);
    setAsking(false);
  };
  return (
    <main id="content" class="sign-in">
      <Heading title="Sign in to Paddock" />
      {hasProvider && (
        <a class="provider" target="_self" href={hrefOf(`/sign-in/begin?to=${here()}`)}>
          Sign in with your identity provider
        </a>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <label>
          <span>Token</span>
          <input
            name="token"
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            required
            autofocus
          />
        </label>
        <button type="submit" class="main" disabled={isAsking}>
          Sign in
        </button>
      </form>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      <p class="quiet">
        Make one with <code>paddock token create NAME --access read</code>, or <code>operate</code>{' '}
        to act. The session lasts 12 hours, and ends at once when the token is revoked.
      </p>
    </main>
  );
}

/** The console says so in its markup. */
const hasProvider = document.documentElement.dataset['provider'] !== undefined;

function here(): string {
  const { path, query } = place.value;
  const kept = new URLSearchParams(query);
  kept.delete('sign-in');
  return encodeURIComponent(path + (kept.size === 0 ? '' : `?${kept.toString()}`));
}

/** How the sign-in went that led here. */
function troubleBefore(): Trouble | undefined {
  if (refusedLink.value !== undefined)
    return refusedLink.value.status === 401 ? OLD_LINK : refusedLink.value;
  return ENDS[place.value.query.get('sign-in') ?? ''];
}
