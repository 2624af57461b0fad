/** What separates a name from its value in settings, headers, JSON, and JSON within JSON. */
const IS = String.raw`["'\\]{0,4}[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}\\{0,3}`;

/** A value: in quotes up to the closing one, else up to the next space or address parameter. */
const VALUE = String.raw`(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"'&]+)`;

/** The words in names of secrets. */
const NAME =
  '(?:passw(?:or)?d|passphrase|pwd|_pass|_auth|secret(?!s\\b)|credential|token|connection_?string|(?:api|access|account|shared|private)[_-]?key)';

/**
 * The forms of credentials. The first group may stay. Each pattern must take linear time: two
 * neighbouring repetitions never match the same character, unless they are short, and no pattern
 * begins with one.
 */
const SECRETS: readonly RegExp[] = [
  /(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  // The end of such a key whose beginning was cut off with the log's.
  /(?<![\w+/=\s])()[\w+/=\s]+-----END [A-Z ]*PRIVATE KEY/g,
  // GitHub's; newer ones are a JSON Web Token behind such a prefix.
  /\b(gh[a-z]_|github_pat_)[\w.-]{20,}/g,
  // GitLab, Docker, PyPI, Slack (and its webhooks), npm, and Google (clients, keys, people).
  /\b(glpat-|dckr_pat_|pypi-|xox[a-z]-|xapp-|GOCSPX-|AIza|ya29\.|hooks\.slack\.com\/\w{1,20}\/)[\w./-]{16,}/g,
  /\b(npm_)[A-Za-z0-9]{30,}/g,
  // Names of AWS keys; the patterns for named values find the keys themselves.
  /\b(A(?:KIA|SIA|BIA|CCA))[A-Z2-7]{16}\b/g,
  // An Azure client secret, and the signature of a shared Azure address.
  /(?<![\w.~-])()[\w.~-]{3}\dQ~[\w.~-]{31,}/g,
  /([?&;]sig=)[^\s&"']+/g,
  // JSON in base64: a JSON Web Token, or a JIT config.
  /\b()eyJ[\w+/-]{16,}[\w+/=.-]*/g,
  // The password of an address, or a token in its place.
  /(:\/\/[^\s/:@"']*:)[^\s/"']+(?=@)/g,
  /(:\/\/)[^\s/:@"']{16,}(?=@)/g,
  new RegExp(String.raw`(authorization${IS}["']?(?:[a-z][\w-]{0,20}[ \t]{1,8})?)[^\s"']+`, 'gi'),
  /\b((?:bearer|basic|token)[ =:]{1,8})[\w.~+/=-]{16,}/gi,
  /(cookie["']?[ \t]{0,8}:[ \t]{0,8})[^\n]+/gi,
  new RegExp(String.raw`(${NAME}[\w-]{0,30}${IS})${VALUE}`, 'gi'),
  new RegExp(String.raw`(--(?:[a-z]{1,20}-){0,3}${NAME}[ \t]{1,8})${VALUE}`, 'gi'),
  // Base64 of this length.
  /(?<![\w+/-])()[\w+/-]{200,}={0,2}/g,
];

/** Replaces credentials in a text. A log is a job's output, and jobs print secrets. Pure. */
export const hideSecrets = (text: string): string =>
  SECRETS.reduce((left, pattern) => left.replace(pattern, '$1[hidden]'), text);
