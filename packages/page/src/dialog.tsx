import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { TroubleNote } from './parts/answer.tsx';
import { giveBackFocus } from './state/keep-focus.ts';
import { place } from './state/place.ts';
import { type Asked, type Field, question } from './state/question.ts';
import type { Trouble } from './answers.ts';

/** The dialog of every action. It takes a note for those who read it later. */
export function Dialog() {
  const asked = question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const { path } = place.value;
  useEffect(() => {
    if (asked === undefined) dialog.current?.close();
    else dialog.current?.showModal();
  }, [asked]);
  // Who follows a link out of it is done with it.
  useEffect(() => () => void (question.value = undefined), [path]);
  return (
    <dialog ref={dialog} aria-label={asked?.label} onClose={closed}>
      {asked && <Content asked={asked} />}
    </dialog>
  );
}

const close = () => (question.value = undefined);

function closed(): void {
  close();
  // The browser has given the focus back to the button, unless that was gone before.
  giveBackFocus();
}

function Content({ asked: { label, children, fields, isGrave = false, act } }: { asked: Asked }) {
  const [trouble, setTrouble] = useState<Trouble>();
  const [done, setDone] = useState<{ readonly shown: ComponentChildren }>();
  const [isAsking, setAsking] = useState(false);
  const isClosed = useRef(false);
  useEffect(() => () => void (isClosed.current = true), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    setTrouble(undefined);
    setAsking(true);
    const told = await act(readForm(event.currentTarget as HTMLFormElement));
    // The person has closed it, and may be asked something else.
    if (isClosed.current) return;
    setAsking(false);
    if ('trouble' in told) setTrouble(told.trouble);
    else if (told.shown === undefined) close();
    else setDone(told);
  };
  if (done !== undefined)
    return (
      <>
        {done.shown}
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
        {fields?.map((field) => (
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
        <button type="button" onClick={close}>
          Leave it
        </button>
      </div>
    </form>
  );
}

/** The button that had the focus is gone. */
const takeFocus = (button: HTMLButtonElement | null): void => button?.focus();

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
