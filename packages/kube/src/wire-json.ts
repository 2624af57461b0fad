/**
 * An API object as its JSON: instants are strings. The client library's types show Date, which its
 * deserialiser makes. We do not use it: it walks every field of every pod and drops unknown ones.
 */
export type WireJson<T> = T extends Date
  ? string
  : T extends object
    ? { [K in keyof T]: WireJson<T[K]> }
    : T;
