// TypeScript for Jest exactly as Node runs it: types become blanks, so lines and columns stay where
// they are and no source map is needed.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
  getCacheKey: (source, path, { configString, instrument }) =>
    createHash('sha256')
      .update([process.version, instrument, configString, path, source].join('\0'))
      .digest('hex'),
};
