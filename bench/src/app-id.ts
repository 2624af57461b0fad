/** The one App of all measurements. */
export const APP_ID = 7;
