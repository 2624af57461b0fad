/** The runner's official image: the default of a pool. GitHub serves its newest release longest. */
export const OFFICIAL_IMAGE = 'ghcr.io/actions/actions-runner:latest';

/** Mirrors and pull-through caches keep the end of the path. */
const OFFICIAL_PATH = /(?:^|\/)actions\/actions-runner(?:[:@]|$)/;

export const isOfficialImage = (image: string): boolean => OFFICIAL_PATH.test(image);
