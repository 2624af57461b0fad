import type { GitHubControl } from './control.ts';

/**
 * Controls a simulated GitHub that runs in another process. Rejects with the simulator's message
 * when it refuses.
 */
export function connectGitHubSimulator(url: string): GitHubControl {
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(`${url}/_sim/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ args }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(
        `The simulated GitHub at ${url} refused ${name} with status ${response.status}: ${text}`,
      );
    return text === '' ? undefined : JSON.parse(text);
  };
  const methods = CONTROL_NAMES.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(methods) as GitHubControl;
}

// Complete by construction: a method that the type has and this object lacks does not compile.
const NAMES: Readonly<Record<keyof GitHubControl, true>> = {
  addOrganization: true,
  setRunnerGroup: true,
  addUser: true,
  addRepository: true,
  renameRepository: true,
  renameAccount: true,
  install: true,
  selectRepositories: true,
  uninstall: true,
  suspend: true,
  unsuspend: true,
  setApp: true,
  queueJob: true,
  approveJob: true,
  rerunJob: true,
  cancelJob: true,
  sendExample: true,
  setDeliveryFaults: true,
  setRunnerFaults: true,
  setRunnerVersion: true,
  setRateLimit: true,
  failNext: true,
  clearCallFaults: true,
  clearFaults: true,
  settled: true,
  truth: true,
  report: true,
};

const CONTROL_NAMES = Object.keys(NAMES);
