// The globals of tests. All test files of a worker share them, because the modules that
// jest-runtime.mjs keeps belong to them. Between two files they become what they were.
import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

/** The object that Jest calls these functions on. */
const vm = createRequire(import.meta.url)('node:vm');

let kept;

/** A class for Jest, which makes one for each test file. */
export default function KeptEnvironment(...args) {
  kept ??= keep(makeEnvironment(args));
  return kept;
}

/**
 * Jest would have each look at a global pass through a proxy, so that it can clear them away: code
 * that computes would take twice the CPU time. These globals are V8's own.
 */
function makeEnvironment(args) {
  const { createContext } = vm;
  vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
  try {
    return new TestEnvironment(...args);
  } finally {
    vm.createContext = createContext;
  }
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
