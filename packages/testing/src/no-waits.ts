/** For clients of GitHub in tests without a database: nobody is ever asked to wait. */
export const NO_WAITS = { left: () => Promise.resolve(undefined), note: () => Promise.resolve() };
