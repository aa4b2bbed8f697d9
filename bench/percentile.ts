/** The smallest of the values that so many percent of them do not exceed. Of none: 0. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}
