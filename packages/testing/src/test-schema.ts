/** The schema of the tests' environments. */
export const TEST_SCHEMA = 'paddock';
