import { type CheckedApp, problemsOf } from '@paddock/github/check-apps';
import { connectGitHub, type GitHub } from '@paddock/github/connect';
import { type GitHubSection, revealed } from '@paddock/github/follow-keys';

const ANSWER_MS = 10_000;

/** Connects to GitHub for a person, who makes few calls: the waits of the services are not asked for. */
export const connectForPerson = ({ apiUrl, apps }: GitHubSection, now = Date.now): GitHub =>
  connectGitHub({
    apiUrl,
    apps: apps.map(revealed),
    requestTimeoutMs: ANSWER_MS,
    waits: { left: () => Promise.resolve(undefined), note: () => Promise.resolve() },
    now,
  });

/** What GitHub says of the App; that it says nothing is a problem too. Never rejects. */
export async function askApp(
  github: GitHub,
  { atRepositories, apiUrl }: GitHubSection,
  appId: number,
  now = Date.now,
): Promise<CheckedApp> {
  const found = await problemsOf(github.asApp(appId), { atRepositories, now });
  if ('problems' in found) return found;
  const problem = `App ${appId}: ${apiUrl} cannot be asked: ${found.unanswered.replace(/\.$/, '')}; check github.apiUrl, and proxy, DNS and certificates on the way there, or wait if GitHub is busy`;
  return { problems: [problem], installations: [] };
}
