import type { Stop } from '../answers.ts';
import { resyncPath } from './jobs.ts';

/** The API’s path that lets go on what somebody holds back. */
export function resumePath({ what, subject }: Stop): string {
  switch (what) {
    case 'making':
      return `/stops/${encodeURIComponent(subject)}`;
    case 'sweep':
      return `/paused-sweeps/${encodeURIComponent(subject)}`;
    case 'resync':
      return resyncPath(subject.replace(/^repository:/, ''));
    default:
      return what satisfies never;
  }
}
