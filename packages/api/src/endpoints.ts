import type { Endpoint } from './endpoint.ts';
import { listInstallationsEndpoint } from './installations/list-installations.ts';

/** Every question and action of the API, in the order of its description. */
export const ENDPOINTS: readonly Endpoint[] = [listInstallationsEndpoint];
