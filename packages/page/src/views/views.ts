import type { ComponentType } from 'preact';
import type { Path } from '../paths.ts';
import { Actions } from './actions.tsx';
import { Board } from './board.tsx';
import { Delivery } from './delivery.tsx';
import { Event } from './event.tsx';
import { Find } from './find.tsx';
import { Installation } from './installation.tsx';
import { Installations } from './installations.tsx';
import { Job } from './job.tsx';
import { Jobs } from './jobs.tsx';
import { Operation } from './operation.tsx';
import { Operations } from './operations.tsx';
import { Pool } from './pool.tsx';
import { GivenUp, Redeliveries } from './redeliveries.tsx';
import { Run } from './run.tsx';
import { Switches } from './switches.tsx';
import { Tokens } from './tokens.tsx';
import { Trace } from './trace.tsx';
import { Usage } from './usage.tsx';
import type { ViewProps } from './view.ts';
import { Worker } from './worker.tsx';
import { Workers } from './workers.tsx';

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
  ['/redeliveries', 'Redeliveries'],
  ['/switches', 'Switches'],
  ['/actions', 'Actions'],
  ['/tokens', 'Tokens'],
];
