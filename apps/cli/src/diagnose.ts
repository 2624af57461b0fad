import { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import { askCommand } from './ask-command.ts';
import { printable } from './columns.ts';
import { ACTORS } from './describe-why.ts';
import { oneWord } from './one-word.ts';

export const diagnose = askCommand({
  name: 'diagnose',
  takes: 'LOGIN|OWNER/NAME',
  summary: `Says what is wrong with an account or a repository, and who can mend it.
\`paddock why\` explains one job.`,
  endpoint: listDiagnosesEndpoint,
  input: (given) => ({ of: oneWord(given, 'login or repository') }),
  print: ({ items }) =>
    items.length === 0
      ? 'The rows know of nothing that is wrong.\n'
      : items
          .map(({ name, sentence, since, actor, advice }) =>
            [
              sentence,
              `  ${name}${since === null ? '' : ` since ${since}`}; ${ACTORS[actor]}: ${advice}`,
            ]
              .map((line) => `${printable(line)}\n`)
              .join(''),
          )
          .join('\n'),
});
