import type { Stop } from '../answers.ts';

/** The API’s path that lets go on what somebody holds back. */
export function resumePath({ what, subject }: Stop): string {
  switch (what) {
    case 'making':
      return `/stops/${encodeURIComponent(subject)}`;
    case 'sweep':
      return `/paused-sweeps/${encodeURIComponent(subject)}`;
    case 'resync':
      return `/repositories/${subject
        .replace(/^repository:/, '')
        .split('/')
        .map(encodeURIComponent)
        .join('/')}/resync`;
    default:
      return what satisfies never;
  }
}
