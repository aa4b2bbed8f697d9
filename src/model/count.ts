/** `1 step`, `2 steps`; `1 session waits`, `2 sessions wait`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return number === 1 ? `1 ${one}` : `${number} ${many}`;
}
