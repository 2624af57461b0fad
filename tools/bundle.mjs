import { rolldown } from 'rolldown';

/**
 * Bundles programs, given by name and path, with all that they import. Returns esbuild's list of
 * the written files.
 */
export async function bundle(input, output) {
  const bundled = await rolldown({
    input,
    platform: 'node',
    external: ['pg-native'],
    optimization: { inlineConst: false }, // A test changes the number of a constant.
  });
  try {
    return await bundled.write({ format: 'esm', sourcemap: true, ...output });
  } finally {
    await bundled.close();
  }
}
