import { actions } from './actions.ts';
import type { Command } from './command.ts';
import { completion } from './completion/completion.ts';
import { delivery } from './delivery.ts';
import { failedCommands } from './failed.ts';
import { diagnose } from './diagnose.ts';
import { find } from './find.ts';
import { installationsCommands } from './installations.ts';
import { jobsCommands } from './jobs.ts';
import { operationsCommands } from './operations.ts';
import { pools } from './pools.ts';
import { poolsCheck } from './pools-check.ts';
import { redeliveriesCommands } from './redeliveries.ts';
import { sessionCommands } from './sessions.ts';
import { switchesCommands } from './switches.ts';
import { tasksCommands } from './tasks.ts';
import { tokenCommands } from './tokens.ts';
import { top } from './top/top.ts';
import { traceCommands } from './trace.ts';
import { usage } from './usage.ts';
import { why } from './why.ts';
import { workersCommands } from './workers.ts';

/** Every command, in the order of the help. Of two that begin alike, the longer one comes first. */
export const COMMANDS: readonly Command[] = [
  why,
  top,
  diagnose,
  find,
  ...jobsCommands,
  ...workersCommands,
  ...traceCommands,
  ...failedCommands,
  usage,
  ...installationsCommands,
  ...redeliveriesCommands,
  delivery,
  ...operationsCommands,
  ...tasksCommands,
  ...switchesCommands,
  actions,
  ...tokenCommands,
  ...sessionCommands,
  poolsCheck,
  pools,
  completion(() => COMMANDS),
];
