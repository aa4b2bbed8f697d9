/** The n-th message or tool call of a turn has the key `turn × ROWS_PER_TURN + n`. */
const ROWS_PER_TURN = 65_536;

export function firstKey(turn: number): number {
  return turn * ROWS_PER_TURN;
}

export function lastKey(turn: number): number {
  return turn * ROWS_PER_TURN + ROWS_PER_TURN - 1;
}

/** The same in SQL, where `r` is a run of the turn. */
export const FIRST_KEY_OF_RUN = `r.turn * ${ROWS_PER_TURN}`;
export const LAST_KEY_OF_RUN = `r.turn * ${ROWS_PER_TURN} + ${ROWS_PER_TURN - 1}`;
