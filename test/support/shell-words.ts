/** The words after `cortex` in a line for a shell: without what is piped into it, and where its output goes. */
export function shellWords(line: string): string[] {
  const words = Array.from(
    line.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g),
    ([word, double, single]) => double ?? single ?? word,
  );
  const from = words.findIndex((word) => /^(<\()?cortex$/.test(word)) + 1;
  const to = words.findIndex((word, at) => at > from && /^(\||>)$/.test(word));
  return words.slice(from, to === -1 ? undefined : to).map((word) => word.replace(/\)$/, ""));
}
