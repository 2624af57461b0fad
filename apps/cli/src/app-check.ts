import { connectGitHub } from '@paddock/github/connect';
import { problemsOf } from '@paddock/github/check-apps';
import { readGitHubSection, revealed } from '@paddock/github/follow-keys';
import { type Command, JSON_OPTION } from './command.ts';

const ANSWER_MS = 10_000;

export const appCheck: Command = {
  name: 'app check',
  takes: 'FILE',
  summary: `Asks GitHub what the Apps of a configuration file lack: key, permissions, events, webhook, and what
an owner of an account has to accept, with the address where. Reads their private keys, and changes
nothing.`,
  options: { json: JSON_OPTION },
  async run({ words: [file = ''], options, environment }) {
    const problems: string[] = [];
    const section = readGitHubSection(file, environment, problems);
    if (section !== undefined && problems.length === 0) {
      const github = connectGitHub({
        apiUrl: section.apiUrl,
        apps: section.apps.map(revealed),
        requestTimeoutMs: ANSWER_MS,
        waits: { left: () => Promise.resolve(undefined), note: () => Promise.resolve() },
      });
      const { atRepositories, apiUrl } = section;
      for (const appId of github.appIds) {
        const found = await problemsOf(github.asApp(appId), { atRepositories, now: Date.now });
        if ('problems' in found) problems.push(...found.problems);
        else problems.push(`App ${appId}: ${apiUrl} cannot be asked: ${found.unanswered}`);
      }
    }
    const isGood = problems.length === 0;
    const apps = section?.apps.map(({ appId }) => appId) ?? [];
    const said = options['json']
      ? JSON.stringify({ file, apps, problems })
      : isGood
        ? `App ${apps.join(', ')}: nothing is lacking.`
        : problems.join('\n');
    return { code: isGood ? 0 : 1, stdout: `${said}\n`, stderr: '' };
  },
};
