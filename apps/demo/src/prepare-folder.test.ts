import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { prepareFolder } from './prepare-folder.ts';

test('contents of one file that are written at once replace each other in order', async () => {
  const folder = await prepareFolder([], () => 'secret');
  try {
    const names = Array.from({ length: 50 }, (_, at) => `pool-${at}`);
    const files = await Promise.all(
      names.map((name) =>
        folder.writeConfig('paddock.yaml', {
          apiUrl: 'http://127.0.0.1',
          appIds: [],
          pools: [{ name, labels: [] }],
          entities: {},
        }),
      ),
    );
    expect(parse(await readFile(files[0] ?? '', 'utf8'))).toMatchObject({
      pools: [{ name: 'pool-49' }],
    });
  } finally {
    await folder.remove();
  }
});
