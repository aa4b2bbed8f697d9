/**
 * A port that refuses connections for as long as a test runs. The system hands out only ports above 1023: one that was open and
 * is closed again may already be someone else's. `fetch` refuses to ask some of those below, though not this one.
 */
export const CLOSED_PORT = 2;
