/** What no log or message is kept with, wherever it stands. The first group is what may stay. */
const SECRETS = [
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Those of GitHub, whose newer ones are JSON Web Tokens behind such a beginning.
  /\b(gh[pousr]_|github_pat_)[\w.-]{20,}/g,
  // JSON in base64: a JSON Web Token, or a JIT config.
  /\b()eyJ[\w+/-]{16,}[\w+/=.-]*/g,
  /\b((?:bearer|basic|token)[ =:]+)[\w.~+/=-]{16,}/gi,
  // Whatever is that long and in base64.
  /()[A-Za-z0-9+/_-]{200,}={0,2}/g,
];

/** Replaces what has the form of a credential. A log is a job's own output, and jobs are careless. Pure. */
export const hideSecrets = (text: string): string => SECRETS.reduce((left, pattern) => left.replace(pattern, '$1[hidden]'), text);
