/** The runner's official image, and what a pool gets that names none. Its newest release is the one that GitHub serves longest. */
export const OFFICIAL_IMAGE = 'ghcr.io/actions/actions-runner:latest';

/** Mirrors and pull-through caches keep the end of its path. */
const OFFICIAL_PATH = /(?:^|\/)actions\/actions-runner(?:[:@]|$)/;

export const isOfficialImage = (image: string): boolean => OFFICIAL_PATH.test(image);
