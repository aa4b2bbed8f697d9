/** The n-th message or tool call of a turn has the key `turn × ROWS_PER_TURN + n`. */
const ROWS_PER_TURN = 65_536;

export function firstKey(turn: number): number {
  return turn * ROWS_PER_TURN;
}

export function lastKey(turn: number): number {
  return turn * ROWS_PER_TURN + ROWS_PER_TURN - 1;
}
