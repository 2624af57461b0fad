// Types alone: nothing of the API's code is in the page.
export type { AnswerOf, Item } from '@paddock/api/endpoints';

export interface Items<T> {
  readonly items: readonly T[];
}

export interface List<T> extends Items<T> {
  readonly next: string | null;
}

/** Why the API did not do what was asked (RFC 9457), or why no answer came: status 0. */
export interface Trouble {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly place: string; readonly message: string }[];
}
