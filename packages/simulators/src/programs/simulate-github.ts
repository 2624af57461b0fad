import {
  type GitHubSimulatorOptions,
  startGitHubSimulator,
} from '../github/start-github-simulator.ts';

/** The simulated GitHub as a process of its own; its options are the first argument, as JSON. */
const options = JSON.parse(process.argv[2] ?? '') as GitHubSimulatorOptions;
const github = await startGitHubSimulator(options);
process.on('SIGTERM', () => void github.stop());
console.log(JSON.stringify({ message: 'listening', port: Number(new URL(github.url).port) }));
