import type { Metrics } from '@paddock/runtime/metrics';
import type { AppChange } from './follow-apps.ts';

/** The methods of a logger that this file uses. */
type Log = Readonly<Record<'error' | 'info', (message: string, fields: object) => unknown>>;

export type AppEvents = ReturnType<typeof appEvents>;

/** The metric and log lines of Apps that change while the service runs, alike in all services. */
export function appEvents(metrics: Metrics, log: Log) {
  const refused = metrics.gauge(
    'paddock_apps_refused',
    '1 while changed GitHub Apps or their secrets are refused',
  );
  refused.set(0);
  return {
    refused(problems: readonly string[]) {
      refused.set(1);
      log.error('changed GitHub Apps refused: those read before stay in use until you mend this', {
        problems,
      });
    },
    accepted() {
      refused.set(0);
    },
    changed({ appId, change }: AppChange) {
      log.info(MESSAGES[change], { appId });
    },
  };
}

const MESSAGES = {
  added: 'a GitHub App was added',
  removed: 'a GitHub App was removed: it is not used any longer',
  secret: 'the changed secret of a GitHub App is in use',
} satisfies Record<AppChange['change'], string>;
