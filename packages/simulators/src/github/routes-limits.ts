import { bucketOf, type RateResource } from './rate-limits.ts';
import type { Answer, InstallationCall, Route } from './route.ts';

export const limitRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/rate_limit',
    operation: 'rate-limit/get',
    caller: 'installation',
    isFree: true,
    answer: getLimits,
  },
];

function getLimits({ world, installation }: InstallationCall): Answer {
  const of = (resource: RateResource) => {
    const { limit, used, resetAt } = bucketOf(world, `installation ${installation.id}`, resource);
    return {
      limit,
      used: Math.min(used, limit),
      remaining: Math.max(limit - used, 0),
      reset: Math.ceil(resetAt / 1000),
    };
  };
  const core = of('core');
  // Searching has a separate, small budget; the simulator has no search.
  const search = { limit: 30, used: 0, remaining: 30, reset: core.reset };
  const resources = {
    core,
    search,
    actions_runner_registration: of('actions_runner_registration'),
  };
  return { status: 200, body: { resources, rate: core } };
}
