/**
 * An API object as its JSON, where instants are strings, or as the client library's calls read it.
 */
export type WireJson<T> = T extends Date
  ? string | Date
  : T extends object
    ? { [K in keyof T]: WireJson<T[K]> }
    : T;
