import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The text of a kubeconfig for a server without TLS. The client libraries accept such a server only
 * with verification switched off.
 */
export function kubeconfigFor(url: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'simulator',
    clusters: [{ name: 'simulator', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'simulator', user: { token } }],
    contexts: [{ name: 'simulator', context: { cluster: 'simulator', user: 'simulator' } }],
  });
}

/** A file that only this user can read, written on first use. */
export function temporaryFile(name: string, text: string): { write(): string; remove(): void } {
  let dir: string | undefined;
  return {
    write() {
      dir ??= mkdtempSync(join(tmpdir(), 'paddock-simulator-'));
      const path = join(dir, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    remove() {
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}
