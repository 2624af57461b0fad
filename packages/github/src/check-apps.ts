import { findAppProblems, findUnaccepted } from '@paddock/domain/entities/find-app-problems';
import type { AppClient, GitHub } from './connect.ts';
import { BACKDATED_SECONDS } from './credentials.ts';
import { classifyGitHubError, UnaskedError } from './errors.ts';
import {
  getApp,
  getWebhookUrl,
  type GitHubInstallation,
  listInstallations,
} from './installations.ts';

export interface AppChecksOptions {
  readonly github: Pick<GitHub, 'appIds' | 'asApp'>;
  /** Pools register organisations' runners at their repositories. */
  readonly atRepositories: () => boolean;
  /** Called when an App's problems are others than before. */
  readonly onProblems: (appId: number, problems: readonly string[]) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Soon enough for a person who mends it and looks, and few calls. */
const AGAIN_MS = 60_000;
/** An App without a problem. */
const AGAIN_IF_WELL_MS = 3_600_000;

/**
 * Asks GitHub what would cost jobs later: whether the key is the App's, its permissions, events and
 * webhook, and our clock.
 */
export function createAppChecks({
  github,
  atRepositories,
  onProblems,
  now = Date.now,
}: AppChecksOptions) {
  const known = new Map<
    number,
    { readonly problems: readonly string[]; readonly nextAt: number }
  >();
  const problems = () => github.appIds.flatMap((appId) => known.get(appId)?.problems ?? []);
  return {
    /** Asks GitHub about the Apps whose turn it is. Never rejects. */
    async look(signal: AbortSignal): Promise<void> {
      for (const appId of github.appIds) {
        const before = known.get(appId);
        if (before !== undefined && performance.now() < before.nextAt) continue;
        const app = github.asApp(appId, { signal });
        const found = await problemsOf(app, { atRepositories: atRepositories(), now });
        const isAnswered = 'problems' in found;
        const held = isAnswered ? found.problems : (before?.problems ?? []);
        const waitMs = isAnswered && held.length === 0 ? AGAIN_IF_WELL_MS : AGAIN_MS;
        known.set(appId, { problems: held, nextAt: performance.now() + waitMs });
        if (held.join() !== (before?.problems ?? []).join()) onProblems(appId, held);
      }
    },
    /** The App has changed: it is asked about again. */
    forget: (appId: number) => void known.delete(appId),
    /** What is wrong, as a sentence for people, or undefined. */
    warning: () => problems().join('; ') || undefined,
  };
}

interface Given {
  readonly atRepositories: boolean;
  readonly now: () => number;
}

export interface CheckedApp {
  readonly problems: readonly string[];
  readonly installations: readonly GitHubInstallation[];
}

/**
 * What is wrong with an App, a sentence each, with the place to mend it; or why GitHub has not
 * answered. Never rejects.
 */
export async function problemsOf(
  app: AppClient,
  given: Given,
  isAgain = false,
): Promise<CheckedApp | { readonly unanswered: string }> {
  const { appId } = app;
  try {
    const { problems, installations } = await checkApp(app, given);
    return { problems: problems.map((problem) => `App ${appId}: ${problem}`), installations };
  } catch (error) {
    if (error instanceof UnaskedError) return { unanswered: error.message };
    const { kind, message } = classifyGitHubError(error);
    // The refusal of a call with the wrong time has taught the client GitHub's.
    if (kind === 'outdated' && !isAgain) return problemsOf(app, given, true);
    if (kind !== 'unauthorized' && kind !== 'not_found') return { unanswered: message };
    const problem = `App ${appId}: GitHub refuses its id with this private key (${message}): compare both, and apiUrl, with the App's settings at GitHub`;
    return { problems: [problem], installations: [] };
  }
}

/**
 * What an App lacks for Paddock, a sentence each with the place to mend it, and its installations.
 * Throws what the calls throw.
 */
export async function checkApp(
  app: AppClient,
  { atRepositories, now }: Given,
): Promise<CheckedApp> {
  const { settingsUrl, githubTime, ...facts } = await getApp(app);
  const aheadMs = githubTime === undefined ? 0 : now() - githubTime;
  const installations = await listInstallations(app);
  const servedBy = (of: readonly GitHubInstallation[]) => ({
    onOrganizations: of.some(({ entityType }) => entityType === 'Organization'),
    onUsers: of.some(({ entityType }) => entityType === 'User'),
    atRepositories,
  });
  const ofApp = findAppProblems({ ...facts, ...servedBy(installations) });
  const hasWebhook = (await getWebhookUrl(app)) !== '';
  const problems = [
    ...ofApp.map((problem) => `${problem}; mend it at ${settingsUrl}/permissions`),
    ...installations.flatMap((one) => {
      const { permissions } = facts;
      const lacking = findUnaccepted({ permissions, ...servedBy([one]) }, one.permissions);
      return lacking.length === 0 || Object.keys(one.permissions).length === 0
        ? []
        : [
            `${one.login} has not accepted its permissions (${lacking.join(', ')}): an owner there accepts them at ${one.settingsUrl}`,
          ];
    }),
    ...(hasWebhook ? [] : [`it has no webhook URL; mend it at ${settingsUrl}`]),
    // Tokens are dated back by as much.
    ...(Math.abs(aheadMs) < BACKDATED_SECONDS * 1_000
      ? []
      : [
          `the clock of this machine is ${aheadMs > 0 ? 'ahead of' : 'behind'} GitHub's by more than ${BACKDATED_SECONDS} s: set it, for example by NTP`,
        ]),
  ];
  return { problems, installations };
}
