/** An input of a filter or of an action. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** Its values, where there are few; else any text. */
  readonly of?: readonly string[];
  readonly hint?: string;
  /** Of few values, the first one is chosen then. */
  readonly isRequired?: boolean;
}

interface InputProps {
  readonly field: Field;
  readonly value?: string | null;
  /** Called when one of the few values is chosen. */
  readonly onChoice?: (form: HTMLFormElement | null) => void;
}

export const Input = ({ field, value = null, onChoice }: InputProps) => {
  const { name, label, of, hint = '', isRequired = false } = field;
  const chosen = value ?? (isRequired ? of?.[0] : '') ?? '';
  return (
    <label>
      <span>{label}</span>
      {of === undefined ? (
        <input
          name={name}
          defaultValue={chosen}
          placeholder={hint}
          required={isRequired}
          autocomplete="off"
          spellcheck={false}
        />
      ) : (
        <select
          name={name}
          defaultValue={chosen}
          required={isRequired}
          onChange={(event) => onChoice?.(event.currentTarget.form)}
        >
          {!isRequired && <option value="">any</option>}
          {of.map((one) => (
            <option key={one} value={one} selected={one === chosen}>
              {one}
            </option>
          ))}
        </select>
      )}
    </label>
  );
};

/** The texts of a form that is sent: those that are not empty. Nothing but the page sends it. */
export function readForm(event: Event): Readonly<Record<string, string>> {
  event.preventDefault();
  const given: Record<string, string> = {};
  for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement))
    if (typeof value === 'string' && value.trim() !== '') given[name] = value.trim();
  return given;
}
