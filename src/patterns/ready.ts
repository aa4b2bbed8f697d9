/** The first message of the thread. */
export const READY = "ready";
