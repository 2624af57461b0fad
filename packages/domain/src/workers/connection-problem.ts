/** Why a runner cannot reach GitHub, and what to do. The first that fits a line counts. */
const PROBLEMS = [
  {
    signs: /clock may be out of sync|certificate chain: .*NotTimeValid/i,
    says: 'a clock that is wrong',
    advice: 'set the time of the node, and see that no certificate on the way has expired',
  },
  {
    signs:
      /proxy tunnel request|Proxy Authentication Required|\bstatus ?code:? ?'?407\b|schemes are allowed for proxies/i,
    says: 'a proxy that refuses it',
    advice:
      'check the address and the login in HTTP_PROXY and HTTPS_PROXY of the pool’s template, and the hosts that the proxy allows',
  },
  {
    signs:
      /SSL connection could not be established|remote certificate (?:is|was) (?:invalid|rejected)|certificate chain: |RemoteCertificate(?:NameMismatch|ChainErrors)|self[- ]signed certificate|unable to get (?:local )?issuer certificate/i,
    says: 'a certificate that it does not trust',
    advice:
      'put the CA of the server, or of the proxy that opens TLS, into the image or the pool’s template',
  },
  {
    signs:
      /Name or service not known|name resolution|Name does not resolve|No such host is known|Could not resolve (?:host|proxy)|Resource temporarily unavailable \(|\b(?:ENOTFOUND|EAI_AGAIN)\b/i,
    says: 'a name that cannot be resolved',
    advice: 'check the cluster’s DNS, and whether a NetworkPolicy keeps the pods from it',
  },
  {
    signs: /is deprecated and cannot receive messages|deprecated version exit code/i,
    says: 'a version that GitHub serves no more',
    advice: 'use an image with a newer runner',
  },
  {
    signs:
      /registration has been deleted|Registration [\w-]+ was not found|response code: NotFound|indicate success: 404|Runner not found/i,
    says: 'a registration that GitHub does not know',
    advice:
      'see whether something else removes runners, and that the runner asks the GitHub where Paddock registers it',
  },
  {
    signs:
      /response code: (?:Forbidden|Unauthorized)|indicate success: 40[13]|AccessDeniedException|VssUnauthorizedException/i,
    says: 'a GitHub that refuses it',
    advice:
      'see the message of GitHub or of a proxy on the way, such as an allow list of addresses',
  },
  {
    signs:
      /session for this runner already exists|Session Conflict error|connect error: (?:Error: )?Conflict/i,
    says: 'another runner with its registration',
    advice: 'see that the image starts the runner once only',
  },
  {
    signs: /exec format error/i,
    says: 'a program for another architecture',
    advice: 'use an image for the node’s architecture, or choose its nodes in the pool’s template',
  },
  {
    signs:
      /valid ICU package|installdependencies\.sh|dependencies is missing for Dotnet|GLIBC(?:XX)?_[\d.]+['’]? not found|Failed to create CoreCLR|error while loading shared libraries/i,
    says: 'an image without the libraries that a runner needs',
    advice: 'build the image on GitHub’s own, or run installdependencies.sh in it',
  },
  {
    signs:
      /(?:run(?:-helper)?|entrypoint)\.sh(?:["']|: |\b).*(?:not found|no such file)|Runner\.Listener.*(?:not found|no such file)/i,
    says: 'an image without the runner where it is started',
    advice: 'use an image with the runner in it, and look at `command` in the pool’s template',
  },
  {
    signs: /Runner is not configured|Not configured\. Run config/i,
    says: 'a runner that was started without its registration',
    advice: 'let the image’s own start pass on ACTIONS_RUNNER_INPUT_JITCONFIG, or start run.sh',
  },
  {
    signs: /Cannot connect to the Docker daemon|failed to start daemon/i,
    says: 'a Docker daemon that is not there',
    advice: 'look at the log of the container dind, and whether the pool’s pods may be privileged',
  },
  {
    signs:
      /Access to the path .* is denied|Permission denied|Read-only file system|No space left on device|Must not run (?:interactively )?with sudo|nosuid/i,
    says: 'files or rights that it lacks',
    advice: 'look at `securityContext` and the volumes of the pool’s template',
  },
  {
    signs:
      /Connection refused|Connection timed out|Connection reset|No route to host|Network (?:is )?unreachable|HttpClient\.Timeout|response ended prematurely|\bE(?:CONNREFUSED|TIMEDOUT|HOSTUNREACH)\b|Runner connect error/i,
    says: 'a connection that does not come about',
    advice:
      'check which addresses the pods may reach: a NetworkPolicy, a firewall, or a proxy that the pool’s template does not name',
  },
] as const;

/** The runner's line once it has reached GitHub. Earlier problems have passed. */
const REACHED = /Listening for Jobs|Runner reconnected/;

const LONGEST_LINE = 200;

/**
 * Finds in a runner's log why GitHub does not see it, as one sentence for people. Undefined without
 * a known cause. The last problem counts, because the runner tries again. The sentence quotes the
 * log: the caller must remove secrets before it stores it.
 */
export function connectionProblem(log: string): string | undefined {
  for (const line of sinceReached(log).toReversed()) {
    const problem = PROBLEMS.find(({ signs }) => signs.test(line));
    if (problem === undefined) continue;
    const words = line.trim();
    const quoted = words.length > LONGEST_LINE ? `${words.slice(0, LONGEST_LINE)}…` : words;
    return `Its log shows ${problem.says} ("${quoted}"): ${problem.advice}.`;
  }
  return undefined;
}

function sinceReached(log: string): string[] {
  const lines = log.split('\n');
  return lines.slice(lines.findLastIndex((line) => REACHED.test(line)) + 1);
}
