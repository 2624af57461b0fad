/** Why the API did not do what was asked (RFC 9457), or why no answer came: status 0. */
export interface Trouble {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly place: string; readonly message: string }[];
}
