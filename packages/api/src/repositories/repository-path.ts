import { z } from 'zod';

const name = z
  .string()
  .max(100)
  .regex(/^[\w.-]+$/, 'must be a name at GitHub')
  .toLowerCase();

/** The inputs of a path that names a repository, in small letters: GitHub ignores the case. */
export const repositoryPath = { owner: name, repository: name };

/** As subjects of operations name it. */
export const fullNameOf = ({ owner, repository }: { owner: string; repository: string }): string =>
  `${owner}/${repository}`;
