import type { AnswerOf } from '../answers.ts';
import { Ago, At, Thing } from '../parts/inline.tsx';
import { type Column, column, Facts, figure, Table, wide } from '../parts/table.tsx';
import { at } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { WORKERS } from './workers.tsx';

export function PoolState({ name, troubles, changes }: AnswerOf<'findPool'> & { name: string }) {
  const path = at`/workers?state=failed&limit=10&pool=${name}`;
  const failed = useAnswer<AnswerOf<'listWorkers'>>(path, ['workers']).answer;
  return (
    <>
      <Table
        caption="What befell its workers in the last day"
        isPart
        columns={TROUBLES}
        rows={troubles}
        none="Its workers start, and none failed in the last day."
      />
      <Table
        caption="Its last failed workers"
        isPart
        columns={WORKERS}
        rows={failed?.items ?? []}
        keyOf={(worker) => worker.name}
      />
      <Table
        caption="What changed last in the file"
        isPart
        columns={CHANGES}
        rows={changes}
        keyOf={({ version }) => version}
      />
    </>
  );
}

const TROUBLES: readonly Column<AnswerOf<'findPool'>['troubles'][number]>[] = [
  wide('Trouble', ({ sentence }) => sentence),
  wide('What to do', ({ advice }) => advice),
  column('Nodes', ({ nodes }) =>
    nodes.slice(0, 3).map((node) => <Thing key={node} kind="node" id={node} />),
  ),
  figure('Since', ({ since }) => <Ago at={since} />),
  column('Newest', ({ worker }) => <Thing kind="worker" id={worker} />),
];

const CHANGES: readonly Column<AnswerOf<'findPool'>['changes'][number]>[] = [
  column('Loaded', (change) => <At at={change.at} />),
  figure('Version', ({ version }) => version),
  wide('What', ({ lines }) =>
    lines.map((line) => (
      <p key={line}>{line.startsWith('-') ? <del>{line}</del> : <ins>{line}</ins>}</p>
    )),
  ),
  figure('Ago', (change) => <Ago at={change.at} />),
];

export const Settings = ({ settings, template }: AnswerOf<'findPool'>) => (
  <>
    <h2>Settings in force</h2>
    <Facts of={settings} />
    <details>
      <summary>The template of its pods</summary>
      <pre tabIndex={0} aria-label="The template of its pods">
        {template}
      </pre>
    </details>
  </>
);
