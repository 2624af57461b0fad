import { render } from 'preact';
import { Page } from './page.tsx';
import { runClock } from './state/clock.ts';
import { keepFocus } from './parts/act.tsx';
import { followChanges, isResting } from './state/live.ts';
import { followPlace } from './state/place.ts';
import { findSession, signInByLink } from './state/session.ts';
import { readTheme } from './state/theme.ts';
import { readZone } from './state/zone.ts';

readTheme();
readZone();
followPlace();
keepFocus();
runClock(() => isResting.value);
followChanges();
render(<Page />, document.body);
await signInByLink();
await findSession();
