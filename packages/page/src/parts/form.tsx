import { useState } from 'preact/hooks';
import type { Item, Items } from '../answers.ts';
import { useAnswer } from '../state/use-answer.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  /** Its values, where there are few; else any text. */
  readonly of?: readonly string[];
  readonly hint?: string;
  /** What the API knows of it, to choose from. */
  readonly suggest?: 'pools' | 'entities' | readonly string[];
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
  const { name, label, of, hint = '', suggest, isRequired = false } = field;
  const [isWanted, want] = useState(false);
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
          {...(suggest && {
            type: 'text' as const,
            list: `of-${name}`,
            onFocus: () => want(true),
          })}
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
      {suggest && isWanted && <Suggestions id={`of-${name}`} of={suggest} />}
    </label>
  );
};

/** What is known: pools by name, entities by login. An address keeps whatever else was typed. */
function Suggestions({ id, of }: { id: string; of: NonNullable<Field['suggest']> }) {
  const path = { pools: '/pools', entities: '/installations?limit=100' };
  const { answer } = useAnswer<Items<Named>>(typeof of === 'string' ? path[of] : undefined, []);
  const known = typeof of === 'string' ? answer?.items.map(nameOf) : of;
  return (
    <datalist id={id}>
      {[...new Set(known)].map((one) => (
        <option key={one}>{one}</option>
      ))}
    </datalist>
  );
}

type Named = Pick<Item<'listPools'>, 'name'> | Pick<Item<'listInstallations'>, 'entity'>;
const nameOf = (of: Named): string => ('name' in of ? of.name : of.entity.login);

/** The texts of a form that is sent, and of the button that sent it, which are not empty. */
export function readForm(event: Event): Readonly<Record<string, string>> {
  event.preventDefault();
  const given: Record<string, string> = {};
  const { submitter } = event as SubmitEvent;
  for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement, submitter))
    if (typeof value === 'string' && value.trim() !== '') given[name] = value.trim();
  return given;
}
