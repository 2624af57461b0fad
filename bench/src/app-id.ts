/** The one App of what is measured. */
export const APP_ID = 7;
