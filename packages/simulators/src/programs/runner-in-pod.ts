#!/usr/bin/env node
/* oxlint-disable node/no-process-env -- a program, which has no other input */
import { playRunner } from '../github/play-runner.ts';

/** Plays the runner of a pod: takes the JIT config from where a real one does, and ends as it does. */
const { ACTIONS_RUNNER_INPUT_JITCONFIG: jitConfig = '', ...env } = process.env;
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const container = { image: '', env: env as Record<string, string> };
const { exitCode } = await playRunner(
  jitConfig,
  stop.signal,
  (line) => console.log(line),
  container,
);
process.exitCode = exitCode;
