import type { ComponentChildren } from 'preact';
import { type Asked, question } from '../state/question.ts';
import { request } from '../state/request.ts';
import { session } from '../state/session-signal.ts';
import { Link } from './link.tsx';

interface ActProps extends Omit<Asked, 'act'> {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Of the API; from the inputs where it depends on them. */
  readonly path: string | ((given: Readonly<Record<string, string>>) => string);
  /** The inputs that are not in the path. */
  readonly inBody?: readonly string[];
  /** What the body always has. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Asks again for what the action has changed. */
  readonly again?: () => void;
  /** What to show of the answer, such as what is shown only once. */
  readonly shown?: (answer: never) => ComponentChildren;
}

/** A button for one action, which asks first. Only for who may act. */
export function Act({ method, path, inBody, body, again, shown, ...asked }: ActProps) {
  if (session.value?.access !== 'operate') return null;
  const act: Asked['act'] = async (given) => {
    const sent = ['note', ...(inBody ?? [])].filter((name) => given[name] !== undefined);
    const told = await request<unknown>(`/api/v1${typeof path === 'string' ? path : path(given)}`, {
      method,
      body: { ...body, ...Object.fromEntries(sent.map((name) => [name, given[name]])) },
    });
    if ('trouble' in told) return told;
    again?.();
    const operation = operationOf(told.answer);
    if (shown !== undefined) return { shown: shown(told.answer as never) };
    return { shown: operation && <Queued operation={operation} /> };
  };
  return (
    <button
      type="button"
      class={asked.isGrave ? 'bad' : ''}
      onClick={() => (question.value = { ...asked, act })}
    >
      {asked.label}
    </button>
  );
}

const Queued = ({ operation }: { operation: string }) => (
  <p>
    It is queued as <Link to={`/operations/${operation}`}>an operation</Link>.
  </p>
);

/** The id of the operation that an answer is, if it is still to end. */
function operationOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { id, status } = answer as { readonly id?: unknown; readonly status?: unknown };
  const isUnderWay = status === 'QUEUED' || status === 'RUNNING';
  return isUnderWay && typeof id === 'string' ? id : undefined;
}
