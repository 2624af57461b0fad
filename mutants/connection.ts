import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** Which connections are encrypted, and whose certificates are believed. */
export const connection: readonly NamedMutant[] = [
  {
    mutant: 'verify-full takes a certificate for any name',
    file: 'packages/db/src/connection/tls.ts',
    find: "    case 'verify-full':\n      return { ...files, rejectUnauthorized: true };",
    replace: "    case 'verify-full':\n      return withoutHostCheck(files);",
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'an authority that is given with require is not asked',
    file: 'packages/db/src/connection/tls.ts',
    find: `sslrootcert === undefined
        ? { ...files, rejectUnauthorized: false }
        : withoutHostCheck(files)`,
    replace: '{ ...files, rejectUnauthorized: false }',
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'our own certificate authority is not trusted',
    file: 'packages/db/src/connection/tls.ts',
    find: "{ ca: read('sslrootcert', sslrootcert) }",
    replace: "{ cert: read('sslrootcert', sslrootcert) }",
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'what requires TLS goes on without',
    file: 'packages/db/src/connection/client.ts',
    find: 'ssl !== undefined && ssl !== false && ssl.isPreferred === true',
    replace: 'ssl !== undefined && ssl !== false',
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'the listener is never encrypted',
    file: 'packages/db/src/connection/listen.ts',
    find: 'new Client({ ...config, query_timeout: heartbeatMs })',
    replace: 'new Client({ ...config, ssl: false, query_timeout: heartbeatMs })',
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'what was sent before an outage holds its connection for the longest statement',
    file: 'packages/db/src/connection/open-pool.ts',
    find: 'client.expectAnswers(AFTER_OUTAGE_MS)',
    replace: 'client.expectAnswers(60_000)',
    tests: ['packages/db/src/connection/silence.db.test.ts'],
  },
  {
    mutant: 'a silent host keeps a connection from closing',
    file: 'packages/db/src/connection/client.ts',
    find: 'setTimeout(() => this.connection.stream.destroy(), CLOSE_LIMIT_MS)',
    replace: 'setTimeout(() => undefined, CLOSE_LIMIT_MS)',
    tests: ['packages/db/src/connection/silence.db.test.ts'],
  },
  {
    mutant: 'a server with TLS gets an unencrypted connection when the DSN does not say',
    file: 'packages/db/src/connection/tls.ts',
    find: "const { sslmode = 'prefer',",
    replace: "const { sslmode = 'disable',",
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'any certificate of GitHub is trusted',
    file: 'packages/github/src/connect.ts',
    find: '  const fetch = boundedFetch(',
    replace: "  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';\n  const fetch = boundedFetch(",
    tests: ['test/src/network.db.test.ts'],
  },
  {
    mutant: 'any certificate of the API server is trusted',
    file: 'packages/kube/src/connect.ts',
    find: "current.skipTLSVerify || address.startsWith('http:')",
    replace: 'true',
    tests: ['test/src/network.db.test.ts'],
  },
];
