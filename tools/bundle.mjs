import { rolldown } from 'rolldown';

/**
 * Bundles programs, given by name and path, with all that they import. Returns esbuild's list of
 * the written files.
 */
export async function bundle(input, output, plugins = []) {
  const bundled = await rolldown({ input, platform: 'node', external: ['pg-native'], plugins });
  try {
    return await bundled.write({ format: 'esm', sourcemap: true, ...output });
  } finally {
    await bundled.close();
  }
}
