import { go } from '../state/place.ts';

export interface Filter {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  /** Its values, where there are few; else any text. */
  readonly of?: readonly string[];
  /** What the list is by without a choice; without it, any will do. */
  readonly usual?: string;
  readonly hint?: string;
}

interface FiltersProps {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly filters: readonly Filter[];
}

/** Filters of a list. They stand in the address, so that they can be kept and sent. */
export function Filters({ path, query, filters }: FiltersProps) {
  const apply = (event: Event) => {
    event.preventDefault();
    const chosen = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement))
      if (typeof value === 'string' && value.trim() !== '') chosen.set(name, value.trim());
    go(chosen.size === 0 ? path : `${path}?${chosen.toString()}`);
  };
  // A list that somebody leaves for another begins with the values of its address.
  return (
    <search>
      <form class="filters" onSubmit={apply} key={query.toString()}>
        {filters.map(({ name, label, of, usual, hint }) => (
          <label key={name}>
            <span>{label}</span>
            {of === undefined ? (
              <input name={name} defaultValue={query.get(name) ?? ''} placeholder={hint ?? ''} />
            ) : (
              <select
                name={name}
                defaultValue={query.get(name) ?? usual ?? ''}
                onChange={(event) => event.currentTarget.form?.requestSubmit()}
              >
                {usual === undefined && <option value="">any</option>}
                {of.map((value) => (
                  <option key={value} value={value} selected={(query.get(name) ?? usual) === value}>
                    {value}
                  </option>
                ))}
              </select>
            )}
          </label>
        ))}
        <button type="submit">Show</button>
      </form>
    </search>
  );
}
