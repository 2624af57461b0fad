import { useEffect, useRef } from 'preact/hooks';
import { session } from '../state/session-signal.ts';
import { type Asked, question } from '../state/question.ts';

/** A button that asks first. Only for who may act. */
export function Question(asked: Asked) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(
    () => () => {
      // What was done may take the button away: who uses the keyboard goes on from the heading.
      if (button.current === document.activeElement) focusHeading();
    },
    [],
  );
  if (session.value?.access !== 'operate') return null;
  return (
    <button
      ref={button}
      type="button"
      class={asked.isGrave ? 'bad' : ''}
      onClick={() => (question.value = asked)}
    >
      {asked.label}
    </button>
  );
}

export const focusHeading = (): void =>
  document.querySelector('h1')?.focus({ preventScroll: true });
