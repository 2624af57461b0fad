import type { Fields } from './asker.ts';
import { type Given, WrongUsage } from './command.ts';

/** What a person wrote in place of fields of an input. Each throws a WrongUsage. */

/** The two names of OWNER/NAME. */
export function readRepository({ words: [word = ''] }: Given): Fields {
  const [owner = '', name = '', ...more] = word.split('/');
  if (owner === '' || name === '' || more.length > 0)
    throw new WrongUsage('A repository is OWNER/NAME.');
  return { owner, repository: name };
}

/** Which failed operations are meant must be said: a forgotten filter would mean all. */
export const readFailed =
  (how: 'retry' | 'discard') =>
  ({ options: { kind, from, to, all } }: Given): Fields => {
    const isNarrowed = [kind, from, to].some((given) => given !== undefined);
    if (isNarrowed === (all === true))
      throw new WrongUsage('It takes either --all, or some of --kind, --from and --to.');
    return { how };
  };

/** What a new token may do; its subject from `owner=acme,repository=app`. */
export const readAccess = ({ options: { access = 'read', subject } }: Given): Fields => ({
  access,
  ...(typeof subject === 'string' && {
    subject: Object.fromEntries(
      subject.split(',').map((pair) => {
        const [, field, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
        if (field === undefined || value === undefined)
          throw new WrongUsage('--subject takes FIELD=VALUE, with a comma between each two.');
        return [field, value];
      }),
    ),
  }),
});
