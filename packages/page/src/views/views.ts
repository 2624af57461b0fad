import type { ComponentType } from 'preact';
import type { Path, ViewProps } from '../paths.ts';
import { Board } from './board.tsx';
import { Compare } from './compare.tsx';
import { Delivery, Redeliveries } from './deliveries.tsx';
import { Doctor } from './doctor.tsx';
import { Find } from './find.tsx';
import { Installation, Installations } from './installations.tsx';
import { Job, Run } from './job.tsx';
import { Jobs } from './jobs.tsx';
import { Operation, Operations } from './operations.tsx';
import { Actions, Sweeps, Switches, Tokens } from './people.tsx';
import { Pool } from './pool.tsx';
import { Repositories, Repository } from './repositories.tsx';
import { Event, Trace } from './trace.tsx';
import { Active, Usage } from './usage.tsx';
import { Nodes, Worker, Workers } from './workers.tsx';

export const VIEWS: Readonly<Record<Path, ComponentType<ViewProps>>> = {
  '/': Board,
  '/pools': Board,
  '/pools/{pool}': Pool,
  '/jobs': Jobs,
  '/jobs/{job}': Job,
  '/runs/{run}': Run,
  '/workers': Workers,
  '/workers/{worker}': Worker,
  '/nodes': Nodes,
  '/operations': Operations,
  '/operations/{operation}': Operation,
  '/usage': Usage,
  '/active': Active,
  '/compare': Compare,
  '/installations': Installations,
  '/installations/{installation}': Installation,
  '/repositories': Repositories,
  '/repositories/{owner}/{repository}': Repository,
  '/redeliveries': Redeliveries,
  '/deliveries/{delivery}': Delivery,
  '/trace/entity/{entity}': Trace,
  '/trace/installation/{installation}': Trace,
  '/trace/job/{job}': Trace,
  '/trace/payload/{event}': Event,
  '/find': Find,
  '/doctor': Doctor,
  '/switches': Switches,
  '/sweeps': Sweeps,
  '/actions': Actions,
  '/tokens': Tokens,
};

interface Entry {
  readonly name: string;
  readonly views: Readonly<Record<string, string>>;
  /** Views that no entry names are found from these. */
  readonly also?: readonly string[];
}

export const BAR: readonly Entry[] = [
  { name: 'Fleet', views: { '/': 'Fleet', '/doctor': 'Doctor' }, also: ['/pools'] },
  { name: 'Jobs', views: { '/jobs': 'Jobs' }, also: ['/runs', '/trace/job'] },
  { name: 'Workers', views: { '/workers': 'Workers', '/nodes': 'Nodes' } },
  {
    name: 'GitHub',
    views: {
      '/installations': 'Installations',
      '/repositories': 'Repositories',
      '/redeliveries': 'Redeliveries',
    },
    also: ['/deliveries', '/trace'],
  },
  {
    name: 'Operations',
    views: {
      '/operations': 'Operations',
      '/sweeps': 'Sweeps',
      '/switches': 'Switches',
      '/actions': 'Actions',
    },
  },
  {
    name: 'Usage',
    views: { '/usage': 'Usage', '/active': 'Active now', '/compare': 'Beside others' },
  },
];

export const isBelow = (path: string, of: string): boolean =>
  path === of || path.startsWith(`${of}/`);

/** The entry of a path: the most exact one. */
export const entryOf = (path: string): Entry | undefined =>
  BAR.flatMap((entry) =>
    [...Object.keys(entry.views), ...(entry.also ?? [])].map((of) => ({ entry, of })),
  )
    .filter(({ of }) => isBelow(path, of))
    .toSorted((a, b) => b.of.length - a.of.length)[0]?.entry;
