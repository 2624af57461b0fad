// The globals of tests. All test files of a worker share them, because the modules that
// jest-runtime.mjs keeps belong to them. Between two files they become what they were.
import { TestEnvironment } from 'jest-environment-node';

let kept;

/** A class for Jest, which makes one for each test file. */
export default function KeptEnvironment(...args) {
  kept ??= keep(new TestEnvironment(...args));
  return kept;
}

function keep(environment) {
  const { global } = environment;
  const { env, exit } = global.process;
  const variables = { ...env };
  const own = new Set(Reflect.ownKeys(global));
  environment.teardown = () => {
    environment.fakeTimers.useRealTimers();
    environment.fakeTimersModern.useRealTimers();
    // Jest leaves its state and its handlers of events under symbols.
    for (const key of Reflect.ownKeys(global))
      if (typeof key === 'symbol' && !own.has(key)) Reflect.deleteProperty(global, key);
    for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
    Object.assign(env, variables);
    global.process.exit = exit;
    return Promise.resolve();
  };
  return environment;
}
