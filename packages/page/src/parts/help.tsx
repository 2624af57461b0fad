import { useEffect, useRef } from 'preact/hooks';

const KEYS = {
  '/': 'the field that finds an id, a name, the beginning of a name, or an address at GitHub',
  '?': 'this help',
  Esc: 'leaves a question or this help',
};

/** Whether a key is meant for what has the focus. */
const isTyped = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof Element && target.closest('input, select, textarea, dialog[open]') !== null);

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyped(event)) return;
      if (event.key === '?') dialog.current?.showModal();
      else if (event.key === '/') document.querySelector<HTMLInputElement>('.find input')?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog ref={dialog} aria-label="Keys">
      <dl class="keys">
        {Object.entries(KEYS).map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="choices">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
