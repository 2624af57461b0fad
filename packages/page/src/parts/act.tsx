import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf, Trouble } from '../answers.ts';
import { at } from '../paths.ts';
import { place } from '../state/place.ts';
import { request, session } from '../state/request.ts';
import { useAnswer } from '../state/use-answer.ts';
import { type Field, Input, readForm } from './form.tsx';
import { Thing } from './inline.tsx';
import { mergedInto, outcomeOf, type Standing } from './outcome.ts';
import { TroubleNote } from './view.tsx';

interface ActProps {
  /** As `Drain …`. */
  readonly label: string;
  /** What happens, in a sentence; where it is about many, how many. */
  readonly children: ComponentChildren;
  readonly method: 'POST' | 'DELETE';
  /** Of the API; from the inputs where it depends on them. */
  readonly path: string | ((given: Readonly<Record<string, string>>) => string);
  readonly fields?: readonly Field[];
  /** The inputs that are not in the path. */
  readonly inBody?: readonly string[];
  /** What the body always has. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly isGrave?: boolean;
  /** It can only count what it would do. */
  readonly hasDryRun?: boolean;
  /** Asks again for what the action has changed. */
  readonly again?: () => void;
  /** What to show of the answer, such as what is shown only once. */
  readonly shown?: (answer: never) => ComponentChildren;
}

/**
 * What is asked now, as it was when it was asked. It stands outside of the views: the row whose
 * button asked may change or go meanwhile.
 */
const question = signal<ActProps | undefined>();

function close(): void {
  question.value = undefined;
}

function closed(): void {
  // The session is over: what was typed stays for after the next sign-in.
  if (session.peek() === null) return;
  close();
  // The browser has given the focus back to the button, unless that was gone before.
  giveBackFocus();
}

export const Act = (props: ActProps) =>
  session.value?.access !== 'operate' ? null : (
    <button
      type="button"
      class={props.isGrave ? 'bad' : ''}
      onClick={() => (question.value = props)}
    >
      {props.label}
    </button>
  );

/** The dialog of every action. It takes a note for those who read it later. */
export function Dialog() {
  const asked = question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const { path } = place.value;
  const isOver = session.value === null;
  useEffect(() => {
    if (asked === undefined || isOver) dialog.current?.close();
    else dialog.current?.showModal();
  }, [asked, isOver]);
  // Who follows a link out of it is done with it.
  useEffect(() => close, [path]);
  return (
    <dialog ref={dialog} aria-label={asked?.label} onClose={closed}>
      {asked && <Content asked={asked} />}
    </dialog>
  );
}

function Content({ asked }: { asked: ActProps }) {
  const { label, children, fields = [], isGrave = false, hasDryRun = false } = asked;
  const [trouble, setTrouble] = useState<Trouble>();
  const [done, setDone] = useState<ComponentChildren>();
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    const given = readForm(event);
    setTrouble(undefined);
    setAsking(true);
    const told = await act(asked, given);
    // The person has closed it, and may be asked something else.
    if (question.peek() !== asked) return;
    setAsking(false);
    if ('trouble' in told) setTrouble(told.trouble.status === 401 ? undefined : told.trouble);
    else if (told.shown === undefined) close();
    else setDone(told.shown);
  };
  if (done !== undefined)
    return (
      <>
        {done}
        <div class="choices">
          <button type="button" onClick={close} ref={takeFocus}>
            Close
          </button>
        </div>
      </>
    );
  return (
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
        <button type="submit" class={isGrave ? 'bad' : 'main'} disabled={isAsking}>
          {label.replace(' …', '')}
        </button>
        {hasDryRun && (
          <button type="submit" name="dryRun" value="true" disabled={isAsking}>
            Only count
          </button>
        )}
        <button type="button" onClick={close}>
          Leave it
        </button>
      </div>
    </form>
  );
}

/** The button that had the focus is gone. */
const takeFocus = (button: HTMLButtonElement | null): void => button?.focus();

async function act(
  { method, path, inBody = [], body, again, shown }: ActProps,
  given: Readonly<Record<string, string>>,
): Promise<{ readonly trouble: Trouble } | { readonly shown: ComponentChildren }> {
  const sent = Object.entries(given).filter(([name]) => name === 'note' || inBody.includes(name));
  const told = await request<Partial<Begun> | null>(
    `/api/v1${typeof path === 'string' ? path : path(given)}`,
    {
      method,
      body: { ...body, ...Object.fromEntries(sent), ...(given['dryRun'] && { dryRun: true }) },
    },
  );
  if ('trouble' in told) return told;
  again?.();
  if (shown !== undefined) return { shown: shown(told.answer as never) };
  const { id, status = '' } = told.answer ?? {};
  const isBegun = id && ['QUEUED', 'RUNNING'].includes(status);
  return { shown: isBegun && <Followed of={id} again={again} /> };
}

interface Begun {
  readonly id: string;
  readonly status: string;
}

/** Where an operation stands, or how it ended; it is said to those who do not see it. */
export const Outcome = ({ of }: { of: Standing | undefined }) => (
  <output class={of?.status === 'ERROR' ? 'outcome trouble' : 'outcome'}>
    {of === undefined ? 'It is queued.' : outcomeOf(of)}
  </output>
);

/** Follows what was asked for to its end, also where another request does it. */
function Followed({ of, again }: { of: string; again: (() => void) | undefined }) {
  const [id, follow] = useState(of);
  const { answer } = useAnswer<AnswerOf<'findOperation'>>(
    at`/operations/${id}`,
    ['tasks', 'operations'],
    2_000,
  );
  const isOver = typeof answer?.finishedAt === 'string';
  const merged = answer && mergedInto(answer);
  useEffect(() => {
    if (merged !== undefined) follow(merged);
    else if (isOver) again?.();
  }, [merged, isOver, again]);
  return (
    <>
      <Outcome of={answer} />
      <Thing kind="operation" id={id} as="Its operation" />
    </>
  );
}

/** What had the focus last. */
let last: EventTarget | null = null;

/**
 * What has the focus may go: a row ends, an action takes its own button away. Who uses the keyboard
 * goes on from the heading then, and not from the top of the page.
 */
export function keepFocus(): void {
  addEventListener('focusin', ({ target }) => (last = target));
  new MutationObserver(giveBackFocus).observe(document.body, { childList: true, subtree: true });
}

/** Gives the focus to the heading if what had it is gone. */
function giveBackFocus(): void {
  const isGone = last instanceof Element && !last.isConnected;
  if (isGone && document.activeElement === document.body)
    document.querySelector('h1')?.focus({ preventScroll: true });
}
