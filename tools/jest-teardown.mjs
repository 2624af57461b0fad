import { programs, server } from './jest-setup.mjs';

export default async () => {
  await programs.remove();
  await server.stop();
};
