import { useState } from 'preact/hooks';
import { Heading } from '../parts/heading.tsx';
import { TroubleNote } from '../parts/trouble.tsx';
import type { Trouble } from '../state/trouble.ts';
import { signIn } from '../state/session.ts';

/** Takes a token once. A cookie that no script reads proves the session from then on. */
export function SignIn() {
  const [trouble, setTrouble] = useState<Trouble>();
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    setAsking(true);
    setTrouble(await signIn(typeof token === 'string' ? token.trim() : ''));
    setAsking(false);
  };
  return (
    <main id="content" class="sign-in">
      <Heading title="Sign in to Paddock" />
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
      {trouble !== undefined && (
        <TroubleNote
          trouble={
            trouble.status === 401
              ? {
                  status: 401,
                  title: 'Refused',
                  detail: 'This token is unknown, revoked, or for one thing only.',
                }
              : trouble
          }
        />
      )}
      <p class="quiet">
        Make one with <code>paddock token create NAME --access read</code>, or <code>operate</code>{' '}
        to act. The session lasts 12 hours, and ends at once when the token is revoked.
      </p>
    </main>
  );
}
