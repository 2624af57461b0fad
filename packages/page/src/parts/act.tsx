import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { request } from '../state/request.ts';
import { session } from '../state/session-signal.ts';
import type { Trouble } from '../state/trouble.ts';
import { Link } from './link.tsx';
import { TroubleNote } from './trouble.tsx';

/** One input of an action besides its note. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly of?: readonly string[];
  readonly isRequired?: boolean;
}

interface ActProps {
  /** On the button, as `Drain …`. */
  readonly label: string;
  /** What happens, in a sentence; where it is about many, how many. */
  readonly children: ComponentChildren;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Of the API; from the inputs where it depends on them. */
  readonly path: string | ((given: Readonly<Record<string, string>>) => string);
  readonly fields?: readonly Field[];
  /** The inputs that are not in the path. */
  readonly inBody?: readonly string[];
  /** What the body always has. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Asks again for what the action has changed. */
  readonly again?: () => void;
  /** What to show of the answer, such as what is shown only once. */
  readonly shown?: (answer: never) => ComponentChildren;
  readonly isGrave?: boolean;
}

/** A button that asks first, with a note for those who read it later. Only for who may act. */
export function Act(props: ActProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [trouble, setTrouble] = useState<Trouble>();
  const [done, setDone] = useState<unknown>();
  const [isAsking, setAsking] = useState(false);
  if (session.value?.access !== 'operate') return null;
  const {
    label,
    children,
    method,
    path,
    fields = [],
    inBody = [],
    body = {},
    again,
    shown,
  } = props;

  const open = () => {
    setTrouble(undefined);
    setDone(undefined);
    dialog.current?.showModal();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = readForm(event.currentTarget as HTMLFormElement);
    const sent = ['note', ...inBody].filter((name) => given[name] !== undefined);
    setAsking(true);
    const told = await request<unknown>(`/api/v1${typeof path === 'string' ? path : path(given)}`, {
      method,
      body: { ...body, ...Object.fromEntries(sent.map((name) => [name, given[name]])) },
    });
    setAsking(false);
    setTrouble('trouble' in told ? told.trouble : undefined);
    if ('trouble' in told) return;
    setDone(told.answer);
    again?.();
    if (shown === undefined && operationOf(told.answer) === undefined) dialog.current?.close();
  };
  const operation = operationOf(done);
  return (
    <>
      <button type="button" class={props.isGrave ? 'bad' : ''} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        {done === undefined ? (
          <form onSubmit={(event) => void submit(event)}>
            <p>{children}</p>
            <div class="fields">
              {fields.map((field) => (
                <Input key={field.name} field={field} />
              ))}
              <label>
                <span>Note, for those who read it later</span>
                <input name="note" maxLength={500} autocomplete="off" />
              </label>
            </div>
            {trouble !== undefined && <TroubleNote trouble={trouble} />}
            <div class="choices">
              <button type="submit" class={props.isGrave ? 'bad' : 'main'} disabled={isAsking}>
                {label.replace(' …', '')}
              </button>
              <button type="button" onClick={() => dialog.current?.close()}>
                Leave it
              </button>
            </div>
          </form>
        ) : (
          <>
            {shown !== undefined && shown(done as never)}
            {operation !== undefined && (
              <p>
                It is queued as <Link to={`/operations/${operation}`}>an operation</Link>.
              </p>
            )}
            <div class="choices">
              <button type="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
            </div>
          </>
        )}
      </dialog>
    </>
  );
}

const Input = ({ field: { name, label, of, isRequired = false } }: { field: Field }) => (
  <label>
    <span>{label}</span>
    {of === undefined ? (
      <input name={name} required={isRequired} autocomplete="off" spellcheck={false} />
    ) : (
      <select name={name} required={isRequired}>
        {of.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    )}
  </label>
);

function readForm(form: HTMLFormElement): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of new FormData(form))
    if (typeof value === 'string' && value.trim() !== '') given[name] = value.trim();
  return given;
}

/** The id of the operation that an answer is, if it is still to end. */
function operationOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { id, status } = answer as { readonly id?: unknown; readonly status?: unknown };
  const isUnderWay = status === 'QUEUED' || status === 'RUNNING';
  return isUnderWay && typeof id === 'string' ? id : undefined;
}
