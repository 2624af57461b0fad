/** For clients of GitHub in tests without a database: no call has to wait. */
export const NO_WAITS = { left: () => Promise.resolve(undefined), note: () => Promise.resolve() };
