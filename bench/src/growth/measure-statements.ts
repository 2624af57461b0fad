import { toHundredths } from '../figures.ts';
import { type Cost, openExplained } from './explain-statements.ts';
import { findGiven } from './given.ts';
import { listStatements } from './list-statements.ts';
import { peopleStatements } from './people-statements.ts';
import { type PeriodicStatement, periodicStatements } from './periodic-statements.ts';

/**
 * The cost of the dearest statement of one function, planned anew as most of them are, with its
 * pages in memory.
 */
export interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly buffers: number;
}

/** The first run reads the pages from disk that the others find in memory. */
const RUNS = 4;

interface Options {
  readonly url: string;
  readonly schema: string;
  readonly say: (line: string) => void;
}

export async function measureStatements({ say, ...options }: Options): Promise<Measured[]> {
  const connection = { ...options, applicationName: 'bench-growth', statementTimeoutMs: 0 };
  const explained = openExplained(connection);
  const explainedLists = openExplained({ ...connection, forLists: true });
  try {
    const given = await findGiven(explained.db);
    const measured: Measured[] = [];
    for (const [name, run] of Object.entries<PeriodicStatement>({
      ...periodicStatements,
      ...peopleStatements,
      ...listStatements,
    })) {
      const on = name in listStatements ? explainedLists : explained;
      const costs: Cost[] = [];
      for (let runs = 0; runs < RUNS; runs++)
        costs.push(dearest(await on.explain('fresh', (trx) => run(trx, given))));
      const best = costs.toSorted((a, b) => a.ms - b.ms)[0];
      if (best === undefined) continue;
      const one = { name, ms: toHundredths(best.ms), buffers: best.buffers };
      say(`${name}: ${one.ms} ms, ${one.buffers} buffers`);
      measured.push(one);
    }
    return measured;
  } finally {
    await explained.close();
    await explainedLists.close();
  }
}

function dearest(costs: readonly Cost[]): Cost {
  const [first] = costs.toSorted((a, b) => b.ms - a.ms);
  if (first === undefined) throw new Error('A function of the list has run no statement.');
  return first;
}
