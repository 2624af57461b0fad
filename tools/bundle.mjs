import { rolldown } from 'rolldown';

/** Bundles programs, by their names, with all that they import. Gives what was written. */
export async function bundle(input, output) {
  const bundled = await rolldown({ input, platform: 'node', external: ['pg-native'] });
  try {
    return await bundled.write({ format: 'esm', sourcemap: true, ...output });
  } finally {
    await bundled.close();
  }
}
