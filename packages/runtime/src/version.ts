/** The version of all programs; generated from package.json. */
export const VERSION = '1.0.0-rc.1';
