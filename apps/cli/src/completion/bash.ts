import type { Place } from './completable.ts';
import { quoted } from './quoted.ts';

/** For bash, also the old one of macOS. */
export const bashCompletion = (
  places: readonly Place[],
): string => `# source <(paddock completion bash)
_paddock() {
  local current=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD - 1]}
  # \`--state=run\` is three words here.
  if [[ $current == = ]]; then current=
  elif [[ $option == = ]]; then option=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  local name= found= n
  for ((n = 1; n < COMP_CWORD; n++)); do
    case "$name \${COMP_WORDS[n]}" in
      ${names(places)}) name="$name \${COMP_WORDS[n]}" ;;
      *) break ;;
    esac
  done
  case "$name $option" in
${places.flatMap(valuesAt).join('\n')}
    *) case $name in
${places.map(wordsAt).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -F _paddock paddock
`;

/** As the shells gather a name: a space before each word. */
export const key = (name: string): string => (name === '' ? '' : ` ${name}`);

export const names = (places: readonly Place[]): string =>
  places
    .filter(({ name }) => name !== '')
    .map(({ name }) => quoted(key(name)))
    .join(' | ');

const valuesAt = ({ name, options }: Place): string[] =>
  options.flatMap(({ word, values }) =>
    values === undefined
      ? []
      : [
          `    ${quoted(`${key(name)} ${word}`)}) ${values.length === 0 ? 'return' : `found=${quoted(values.join(' '))}`} ;;`,
        ],
  );

function wordsAt({ name, words, options, takesFile }: Place): string {
  const found = [...words, ...options].map(({ word }) => word).join(' ');
  const files = takesFile ? 'compopt -o default 2>/dev/null; [[ $current == -* ]] || return; ' : '';
  return `      ${quoted(key(name))}) ${files}found=${quoted(found)} ;;`;
}
