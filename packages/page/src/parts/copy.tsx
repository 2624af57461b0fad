import { useState } from 'preact/hooks';

/** Copies a text, such as a secret that is shown once; without a secure context, it selects it. */
export function Copy({ text }: { text: string }) {
  const [said, say] = useState('Copy');
  const copy = async (button: EventTarget | null) => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      const shown = button instanceof Element ? button.previousElementSibling : null;
      if (shown !== null) getSelection()?.selectAllChildren(shown);
      say('Selected: copy it by keyboard');
    }
  };
  return (
    <button type="button" onClick={({ currentTarget }) => void copy(currentTarget)}>
      {said}
    </button>
  );
}
