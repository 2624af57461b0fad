/** The API’s path of the switch of a subject. */
export const switchPath = (subject = ''): string => `/switches/${encodeURIComponent(subject)}`;
