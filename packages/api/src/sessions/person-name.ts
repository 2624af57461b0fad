import { z } from 'zod';

/** A person’s name at the identity provider. */
export const personName = z.string().min(1).max(200);

/** As the audit names them: no token has such a name. */
export const personOf = (name: string): string => `person ${name}`;
