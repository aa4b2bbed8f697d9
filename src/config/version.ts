import { readFileSync } from "node:fs";

/** Read from the file, because the package knows it first. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
