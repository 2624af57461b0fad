import { server } from './jest-setup.mjs';

export default () => server.stop();
