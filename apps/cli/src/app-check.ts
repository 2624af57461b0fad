import { askApp, connectForPerson } from './ask-apps.ts';
import { readGitHubSection } from '@paddock/github/follow-keys';
import { type Command, JSON_OPTION } from './command.ts';

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
      const github = connectForPerson(section);
      for (const appId of github.appIds)
        problems.push(...(await askApp(github, section, appId)).problems);
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
