// Bundles each app and all that it imports into apps/*/dist/main.mjs: its image needs Node and that one file.
import { existsSync, readdirSync } from 'node:fs';
import { rolldown } from 'rolldown';

for (const app of readdirSync('apps')) {
  const input = `apps/${app}/src/main.ts`;
  if (!existsSync(input) || app === 'demo') continue;
  const bundle = await rolldown({ input, platform: 'node', external: ['pg-native'] });
  const { output } = await bundle.write({ file: `apps/${app}/dist/main.mjs`, format: 'esm', sourcemap: true, codeSplitting: false });
  await bundle.close();
  console.log(`apps/${app}/dist/main.mjs ${(output[0].code.length / 1e6).toFixed(1)} MB`);
}
