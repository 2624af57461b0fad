/** The schema that the tests' environments live in. */
export const TEST_SCHEMA = 'paddock';
