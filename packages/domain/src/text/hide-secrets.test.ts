import { describe, expect, test } from '@jest/globals';
import { hideSecrets } from './hide-secrets.ts';

/** Assembled here, so that no secret scanner takes these for credentials. */
const of = (...parts: string[]) => parts.join('');
const HEX = 'a1B2c3D4e5';

describe('a text in the form of a credential is hidden (D1)', () => {
  test.each([
    ['a GitHub token', of('ghp_', HEX.repeat(4))],
    ['a fine-grained one', of('github_pat_', HEX.repeat(8))],
    ['the name of an AWS key', of('AKIA', 'IOSFODNN7EXAMPLE')],
    ['a Slack token', of('xoxb-', '123456789012-1234567890123-', HEX)],
    ['a Slack webhook', of('https://hooks.slack.com/services/', 'T00000000/B00000000/', HEX)],
    ['an npm token', of('npm_', 'a1B2c3'.repeat(6))],
    ['a PyPI token', of('pypi-', 'AgEIcHlwaS5vcmc', HEX)],
    ['a Docker token', of('dckr_pat_', HEX.repeat(3))],
    ['a Google key', of('AIza', 'SyD-', HEX.repeat(3))],
    ['an Azure client’s secret', of('abc8Q', '~', HEX.repeat(3), 'wxyz')],
    ['a JSON Web Token', of('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln')],
    ['a long text in base64', 'QUJD'.repeat(60)],
  ])('%s', (_what, secret) => {
    const kept = hideSecrets(`before ${secret}\nand (${secret}) after`);
    expect(kept).toMatch(/^before .*\[hidden\]\nand \(.*\[hidden\]\) after$/);
    expect(kept).not.toContain(secret.slice(-8));
  });

  test.each([
    'password=S3CRET',
    'PASSWORD="S3CRET with spaces"',
    'MYSQL_PWD=S3CRET',
    'DB_PASS=S3CRET',
    'aws_secret_access_key = S3CRET',
    '{"SecretAccessKey": "S3CRET", "SessionToken": "S3CRET"}',
    String.raw`{"body":"{\"password\":\"S3CRET\"}"}`,
    'DefaultEndpointsProtocol=https;AccountName=x;AccountKey=S3CRET==;EndpointSuffix=core.windows.net',
    'https://x.blob.core.windows.net/c?sv=2024&sig=S3CRET%3D&se=2026',
    '//npm.acme.example/:_authToken=S3CRET',
    'X-Api-Key: S3CRET',
    'Authorization: Basic S3CRET',
    "-H 'Authorization: token S3CRET'",
    '"Proxy-Authorization": "Bearer S3CRET"',
    'Set-Cookie: session=S3CRET; HttpOnly',
    'docker login --password S3CRET --username me',
    './config.sh --url https://github.com/acme --token S3CRET',
    'postgresql://app:S3CRET@db.example/app',
    'https://me:p@S3CRET@host/path',
    'https://S3CRETS3CRETS3CRET@github.com/acme/api.git',
  ])('in %s', (line) => {
    const kept = hideSecrets(`before\n${line}\nafter`);
    expect(kept).not.toContain('S3CRET');
    expect(kept).toMatch(/^before\n.*\[hidden\][^]*\nafter$/);
  });

  test.each(['RSA PRIVATE KEY', 'PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'])(
    'a key in PEM (%s): whole, cut at its end, and cut at its beginning',
    (kind) => {
      const body = `${'c2VjcmV0'.repeat(8)}\n`.repeat(5);
      const [begin, end] = [`-----BEGIN ${kind}-----\n`, `-----END ${kind}-----`];
      for (const cut of [`${begin}${body}${end}`, `${begin}${body}`, `${body}${end}`]) {
        expect(hideSecrets(cut)).not.toContain('c2VjcmV0');
      }
      expect(hideSecrets(`before. ${begin}${body}${end} after`)).toMatch(/^before\. .* after$/);
    },
  );
});

describe('a text made to take long takes no longer than others', () => {
  // If any pattern took time with the square of the length, one of these would take hours, and the
  // test would not end.
  const LENGTH = 300_000;
  const parts = [
    ...'a =-\n"\'\\/@:'.split(''),
    ...'eyJ /eyJ ghp_ .ghp_a AKIA xoxb- npm_ 8Q~ a8Q~ ya29. hooks.slack.com/a'.split(' '),
    ...'://|://a:|://a:b|://:|://a@|a:b@|?sig=|&|A\n|A '.split('|'),
    ...'-----BEGIN |-----BEGIN A PRIVATE KEY-----|-----END |-----END PRIVATE KEY'.split('|'),
    ...'authorization|authorization:|authorization: a |token |token=|token= '.split('|'),
    ...'bearer  |cookie:|cookie: |pwd_|secret-secret|secret \t|_pass=>'.split('|'),
    ...String.raw`password|password=|password="|password='"|password\"=`.split('|'),
    ...'--|--a-|--a-a-a-token|--token |--a-token "'.split('|'),
  ];

  test.each(parts)('%j', (part) => {
    for (const [begin, end] of [
      ['', ''],
      ['-----BEGIN ', ''],
      ['password="', ' '],
      ['://a:', '!'],
      ['token', '\n'],
    ]) {
      const text = `${begin}${part.repeat(LENGTH / part.length)}${end}`;
      expect(hideSecrets(text).length).toBeLessThan(4 * LENGTH);
    }
  });
});
