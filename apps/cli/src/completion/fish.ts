import { key } from './bash.ts';
import type { Place } from './completable.ts';

/** For fish, as conf.d or completions have it. */
export const fishCompletion = (
  places: readonly Place[],
): string => `# paddock completion fish | source
function __paddock_at
    set -l words (commandline -opc)
    set -l name ''
    for word in $words[2..-1]
        switch "$name $word"
            case ${places
              .filter(({ name }) => name !== '')
              .map(({ name }) => quoted(key(name)))
              .join(' ')}
                set name "$name $word"
            case '*'
                break
        end
    end
    test "$name" = "$argv[1]"
end
complete -c paddock -f
${places.flatMap(linesAt).join('\n')}
`;

function linesAt({ name, words, options, takesFile }: Place): string[] {
  const at = `complete -c paddock -n ${quoted(`__paddock_at ${quoted(key(name))}`)}`;
  return [
    ...words.map(({ word, doc }) => `${at} -a ${quoted(word)}${described(doc)}`),
    ...options.map(
      ({ word, doc, values }) =>
        `${at} -l ${word.slice(2)}${values === undefined ? '' : ' -x'}${values === undefined || values.length === 0 ? '' : ` -a ${quoted(values.join(' '))}`}${described(doc)}`,
    ),
    ...(takesFile ? [`${at} -F`] : []),
  ];
}

const described = (doc: string): string => (doc === '' ? '' : ` -d ${quoted(doc)}`);

/** One word of fish, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
