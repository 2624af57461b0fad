import { type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { AppChange } from './follow-apps.ts';

const CHANGES = {
  added: 'a GitHub App was added',
  removed: 'a GitHub App was removed: it is not used any longer',
  secret: 'the changed secret of a GitHub App is in use',
} satisfies Record<AppChange['change'], string>;

const TABLE = {
  appsRefused: (problems: readonly string[]) =>
    line.error('changed GitHub Apps refused: those read before stay in use until you mend this', {
      problems,
    }),
  appChanged: ({ appId, change }: AppChange) => line.info(CHANGES[change], { appId }),
};

export type AppEvents = ReturnType<typeof appEvents>;

/** The metrics and log lines of Apps that change while the service runs, alike in all services. */
export function appEvents(metrics: Metrics, log: EventLog) {
  const { appsRefused, appChanged } = tellEvents(TABLE, { log, metrics });
  const areRefused = metrics.gauge(
    'paddock_apps_refused',
    '1 while changed GitHub Apps or their secrets are refused',
  );
  areRefused.set(0);
  return {
    refused(problems: readonly string[]) {
      areRefused.set(1);
      appsRefused(problems);
    },
    accepted: () => areRefused.set(0),
    changed: appChanged,
  };
}
