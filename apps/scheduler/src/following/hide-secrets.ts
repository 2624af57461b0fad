/** How a name and its value are parted, in settings, headers, JSON, and JSON within JSON. */
const IS = String.raw`["'\\]{0,4}[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}\\{0,3}`;

/**
 * A value, in quotes to the closing one; without them to the next space or the next parameter of an
 * address.
 */
const VALUE = String.raw`(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'&]+)`;

/** What names of secrets have in common. */
const NAME =
  '(?:passw(?:or)?d|passphrase|pwd|_pass|_auth|secret(?!s\\b)|credential|token|connection_?string|(?:api|access|account|shared|private)[_-]?key)';

/**
 * What no log or message is kept with, wherever it stands. The first group is what may stay. Each
 * pattern takes time in proportion to the text: no two repetitions that follow each other can take
 * the same character, unless they are short; and none begins with one.
 */
const SECRETS: readonly RegExp[] = [
  /(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  // The end of such a key, whose beginning was cut off with that of the log.
  /(?<![\w+/=\s])()[\w+/=\s]+-----END [A-Z ]*PRIVATE KEY/g,
  // Those of GitHub, whose newer ones are JSON Web Tokens behind such a beginning.
  /\b(gh[a-z]_|github_pat_)[\w.-]{20,}/g,
  // Those of GitLab, Docker, PyPI, Slack (and its webhooks), npm, and of Google for clients, keys
  // and people.
  /\b(glpat-|dckr_pat_|pypi-|xox[a-z]-|xapp-|GOCSPX-|AIza|ya29\.|hooks\.slack\.com\/\w{1,20}\/)[\w./-]{16,}/g,
  /\b(npm_)[A-Za-z0-9]{30,}/g,
  // The names of AWS' keys; the keys themselves are known by what stands before them.
  /\b(A(?:KIA|SIA|BIA|CCA))[A-Z2-7]{16}\b/g,
  // A client's secret of Azure, and the signature of an address that it shares.
  /(?<![\w.~-])()[\w.~-]{3}\dQ~[\w.~-]{31,}/g,
  /([?&;]sig=)[^\s&"']+/g,
  // JSON in base64: a JSON Web Token, or a JIT config.
  /\b()eyJ[\w+/-]{16,}[\w+/=.-]*/g,
  // An address' password, or a token in its place.
  /(:\/\/[^\s/:@"']*:)[^\s/"']+(?=@)/g,
  /(:\/\/)[^\s/:@"']{16,}(?=@)/g,
  new RegExp(String.raw`(authorization${IS}["']?(?:[a-z][\w-]{0,20}[ \t]{1,8})?)[^\s"']+`, 'gi'),
  /\b((?:bearer|basic|token)[ =:]{1,8})[\w.~+/=-]{16,}/gi,
  /(cookie["']?[ \t]{0,8}:[ \t]{0,8})[^\n]+/gi,
  new RegExp(String.raw`(${NAME}[\w-]{0,30}${IS})${VALUE}`, 'gi'),
  new RegExp(String.raw`(--(?:[a-z]{1,20}-){0,3}${NAME}[ \t]{1,8})${VALUE}`, 'gi'),
  // Whatever is that long and in base64.
  /(?<![\w+/-])()[\w+/-]{200,}={0,2}/g,
];

/**
 * Replaces what has the form of a credential. A log is a job's own output, and jobs are careless.
 * Pure.
 */
export const hideSecrets = (text: string): string => SECRETS.reduce((left, pattern) => left.replace(pattern, '$1[hidden]'), text);
