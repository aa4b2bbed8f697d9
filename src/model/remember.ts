/** Makes an entry the newest of a map, and forgets the oldest ones beyond a limit. */
export function remember<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  max: number,
): void {
  map.delete(key);
  map.set(key, value);
  for (const [oldest] of map) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}
