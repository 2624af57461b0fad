import { useEffect, useRef } from 'preact/hooks';
import { findPath } from './paths.ts';
import { Bar } from './bar.tsx';
import { Dialog } from './parts/act.tsx';
import { Help } from './parts/help.tsx';
import { Link } from './parts/inline.tsx';
import { Heading, NotConnected, TroubleNote } from './parts/view.tsx';
import { place } from './state/place.ts';
import { session } from './state/request.ts';
import { unreachable } from './state/session.ts';
import { SignIn } from './views/sign-in.tsx';
import { VIEWS } from './views/views.ts';

export function Page() {
  if (session.value === undefined)
    return unreachable.value === undefined ? null : (
      <main>
        <TroubleNote trouble={unreachable.value} />
      </main>
    );
  return (
    <>
      {session.value === null ? <SignIn /> : <SignedIn />}
      <Dialog />
      <Help />
    </>
  );
}

function SignedIn() {
  const { path, query } = place.value;
  const found = findPath(path);
  const View = found === undefined ? NotFound : VIEWS[found.path];
  const shown = useRef(path);
  useEffect(() => {
    // Who cannot see hears that another view is here, and goes on from its heading.
    if (shown.current !== path) document.querySelector('h1')?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <Bar path={path} />
      <main id="content">
        <NotConnected />
        <View key={path} fields={found?.fields ?? {}} query={query} />
      </main>
    </>
  );
}

const NotFound = () => (
  <>
    <Heading title="There is nothing here" />
    <p>
      The page has no such address. A job is at <code>/jobs/ID</code>, a worker at{' '}
      <code>/workers/NAME</code>. <Link to="/">To the fleet</Link>
    </p>
  </>
);
