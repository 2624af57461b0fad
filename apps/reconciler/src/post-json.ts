import { asRecord } from '@paddock/domain/pools/as-record';

/** How long the receiver may take. */
const TIMEOUT_MS = 5_000;

/** Posts JSON. Returns why it was not accepted; the address may be a secret, and is not shown. */
export async function post(
  what: string,
  url: URL,
  body: object,
  {
    signal,
    headers,
  }: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // Another address would learn what was meant for this one.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `${what} answered ${response.status}`;
  } catch (error) {
    if (timeout.aborted) return `${what} gave no answer for ${TIMEOUT_MS / 1_000} s`;
    const { code } = asRecord(asRecord(error)['cause']);
    return `${what} cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}
