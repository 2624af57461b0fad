import type { ComponentType } from 'preact';
import type { Path, ViewProps } from '../paths.ts';
import { Board } from './board.tsx';
import { Delivery, GivenUp, Redeliveries } from './deliveries.tsx';
import { Find } from './find.tsx';
import { Installation, Installations } from './installations.tsx';
import { Job, Run } from './job.tsx';
import { Jobs } from './jobs.tsx';
import { Operation, Operations } from './operations.tsx';
import { Actions, Switches, Tokens } from './people.tsx';
import { Pool } from './pool.tsx';
import { Repositories, Repository } from './repositories.tsx';
import { Event, Trace } from './trace.tsx';
import { Usage } from './usage.tsx';
import { Worker, Workers } from './workers.tsx';

/** What is drawn at each path. */
export const VIEWS: Readonly<Record<Path, ComponentType<ViewProps>>> = {
  '/': Board,
  '/pools': Board,
  '/pools/{pool}': Pool,
  '/jobs': Jobs,
  '/jobs/{job}': Job,
  '/runs/{run}': Run,
  '/workers': Workers,
  '/workers/{worker}': Worker,
  '/operations': Operations,
  '/operations/{operation}': Operation,
  '/usage': Usage,
  '/installations': Installations,
  '/installations/{installation}': Installation,
  '/repositories': Repositories,
  '/repositories/{owner}/{repository}': Repository,
  '/redeliveries': Redeliveries,
  '/redeliveries/given-up': GivenUp,
  '/deliveries/{delivery}': Delivery,
  '/trace/entity/{entity}': Trace,
  '/trace/installation/{installation}': Trace,
  '/trace/job/{job}': Trace,
  '/trace/payload/{event}': Event,
  '/find': Find,
  '/switches': Switches,
  '/actions': Actions,
  '/tokens': Tokens,
};

/** The main views, in the order of the bar. */
export const BAR: readonly (readonly [path: Path, name: string])[] = [
  ['/', 'Fleet'],
  ['/jobs', 'Jobs'],
  ['/workers', 'Workers'],
  ['/operations', 'Operations'],
  ['/usage', 'Usage'],
  ['/installations', 'Installations'],
  ['/repositories', 'Repositories'],
  ['/redeliveries', 'Redeliveries'],
  ['/switches', 'Switches'],
  ['/actions', 'Actions'],
  ['/tokens', 'Tokens'],
];
