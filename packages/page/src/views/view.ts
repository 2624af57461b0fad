/** What a view gets from the address. */
export interface ViewProps {
  /** As `job` of `/jobs/{job}`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}
