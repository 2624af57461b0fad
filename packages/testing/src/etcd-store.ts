/** Writes ten versions through etcd's JSON gateway; false until etcd takes them. */
export async function growPast(etcd: string): Promise<boolean> {
  for (let version = 0; version < 10; version++) {
    const answer = await post(etcd, 'put', {
      key: Buffer.from('/past').toString('base64'),
      value: '',
    }).catch(() => undefined);
    if (answer?.ok !== true) return false;
  }
  return true;
}

/** Removes all versions but the newest. Throws if etcd refuses. */
export async function compactStore(etcd: string): Promise<void> {
  const read = await post(etcd, 'range', { key: Buffer.from('/past').toString('base64') });
  const { header } = (await read.json()) as { header: { revision: string } };
  const compacted = await post(etcd, 'compaction', { revision: header.revision, physical: true });
  if (!compacted.ok)
    throw new Error(
      `etcd did not compact its store at ${header.revision}: ${await compacted.text()}`,
    );
}

const post = (
  etcd: string,
  call: 'put' | 'range' | 'compaction',
  body: object,
): Promise<Response> =>
  fetch(`${etcd}/v3/kv/${call}`, { method: 'POST', body: JSON.stringify(body) });
