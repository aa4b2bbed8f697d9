/** The code of an error of the system or of Node, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error);
  return code !== undefined && codes.includes(code);
}
