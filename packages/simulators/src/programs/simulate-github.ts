import {
  type GitHubSimulatorOptions,
  startGitHubSimulator,
} from '../github/start-github-simulator.ts';

/** Runs the simulated GitHub as a process; its options are the first argument, as JSON. */
const options = JSON.parse(process.argv[2] ?? '') as GitHubSimulatorOptions;
const github = await startGitHubSimulator(options);
process.on('SIGTERM', () => void github.stop());
console.log(JSON.stringify({ message: 'listening', port: Number(new URL(github.url).port) }));
