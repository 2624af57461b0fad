import { type Asked, question } from '../state/question.ts';
import { session } from '../state/session-signal.ts';

/** A button that asks first. Only for who may act. */
export const Question = (asked: Asked) =>
  session.value?.access === 'operate' ? (
    <button
      type="button"
      class={asked.isGrave ? 'bad' : ''}
      onClick={() => (question.value = asked)}
    >
      {asked.label}
    </button>
  ) : null;
