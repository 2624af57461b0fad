/**
 * An object with the members of what `find` gives at the time of each use. So a hook can hand to
 * tests what is made only before they run.
 */
export function late<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get: (_nothing, name) => Reflect.get(find(), name) as unknown,
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor: (_nothing, name) => ({
      ...Reflect.getOwnPropertyDescriptor(find(), name),
      configurable: true,
    }),
  });
}
