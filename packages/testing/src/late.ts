/**
 * An object with the members of the present result of `find`. So a hook can give tests an object
 * that exists only once they run.
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
