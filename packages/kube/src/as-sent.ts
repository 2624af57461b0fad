/**
 * An API object as it is on the wire: instants are strings. The client library's types show them as Date, which its deserialiser makes;
 * we read JSON as it comes, for that deserialiser walks every field of every pod and drops those it does not know.
 */
export type AsSent<T> = T extends Date ? string : T extends object ? { [K in keyof T]: AsSent<T[K]> } : T;
