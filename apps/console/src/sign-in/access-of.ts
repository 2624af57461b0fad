import type { AccessOf } from '@paddock/api/sessions/sessions';
import type { SignInFile } from './sign-in-file.ts';

/** Everybody who signs in. */
const EVERYBODY = '*';

/** What people may do, by their groups. */
export const createAccessOf =
  ({ read, operate }: SignInFile['groups']): AccessOf =>
  (groups) => {
    if (groups.some((group) => operate.includes(group))) return 'operate';
    const mayRead = read.includes(EVERYBODY) || groups.some((group) => read.includes(group));
    return mayRead ? 'read' : undefined;
  };
