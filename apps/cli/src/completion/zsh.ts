import { key, names } from './bash.ts';
import type { Place } from './completable.ts';
import { quoted } from './quoted.ts';

/** For zsh: sourced after compinit, or as the file _paddock of its fpath. */
export const zshCompletion = (places: readonly Place[]): string => `#compdef paddock
# source <(paddock completion zsh)
_paddock() {
  local name= option=\${words[CURRENT - 1]} n
  local -a found
  if [[ $PREFIX == --*=* ]]; then
    option=\${PREFIX%%=*}
    compset -P '*='
  fi
  for ((n = 2; n < CURRENT; n++)); do
    case "$name \${words[n]}" in
      ${names(places)}) name="$name \${words[n]}" ;;
      *) break ;;
    esac
  done
  case "$name $option" in
${places.flatMap(valuesAt).join('\n')}
  esac
  case $name in
${places.map(wordsAt).join('\n')}
  esac
  _describe -t paddock paddock found
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then _paddock "$@"; else compdef _paddock paddock; fi
`;

const valuesAt = ({ name, options }: Place): string[] =>
  options.flatMap(({ word, values }) =>
    values === undefined
      ? []
      : [
          `    ${quoted(`${key(name)} ${word}`)}) ${values.length === 0 ? '' : `compadd -- ${values.join(' ')}; `}return ;;`,
        ],
  );

function wordsAt({ name, words, options, takesFile }: Place): string {
  const found = [...words, ...options].map(({ word, doc }) =>
    quoted(doc === '' ? word : `${word}:${doc}`),
  );
  const files = takesFile ? '_files; ' : '';
  return `    ${quoted(key(name))}) ${files}found=(${found.join(' ')}) ;;`;
}
