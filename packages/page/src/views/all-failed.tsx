import { useEffect, useState } from 'preact/hooks';
import type { HandledFailed } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { request } from '../state/request.ts';
import { count } from '../text/words.ts';

interface AllFailedProps {
  /** The filters of the list. */
  readonly query: URLSearchParams;
}

/** Deals with all failed operations that fit the filters, also those on other pages. */
export const AllFailed = ({ query }: AllFailedProps) => {
  const filter = Object.fromEntries(
    ['kind', 'from', 'to'].flatMap((name) => {
      const value = query.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return (
    <>
      <Act
        label="Retry all that fit …"
        method="POST"
        path="/failed-operations/retry"
        body={filter}
        shown={said}
      >
        Repeats, each as a new operation with all attempts,{' '}
        <HowMany path="/failed-operations/retry" filter={filter} />
      </Act>
      <Act
        label="Discard all that fit …"
        method="POST"
        path="/failed-operations/discard"
        body={filter}
        shown={said}
        isGrave
      >
        Takes off the list <HowMany path="/failed-operations/discard" filter={filter} />
      </Act>
    </>
  );
};

const said = ({ operations, more }: HandledFailed) => (
  <p>
    Done for {count(operations, 'operation')}
    {more && '; there are more: ask again'}.
  </p>
);

/** How many would be dealt with now. */
function HowMany({ path, filter }: { path: string; filter: Readonly<Record<string, string>> }) {
  const [told, tell] = useState('…');
  useEffect(() => {
    const ask = async () => {
      const asked = await request<HandledFailed>(`/api/v1${path}`, {
        method: 'POST',
        body: { ...filter, dryRun: true },
      });
      if ('trouble' in asked) tell(asked.trouble.detail);
      else {
        const { operations, more } = asked.answer;
        tell(`${count(operations, 'operation')}${more ? ', the newest of more' : ''}.`);
      }
    };
    void ask();
  }, [path, filter]);
  return <b>{told}</b>;
}
