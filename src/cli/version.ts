import { readFileSync } from "node:fs";

export function version(json: boolean): void {
  const version = readVersion();
  const { node } = process.versions;
  console.log(json ? JSON.stringify({ version, node }) : `cortex ${version} (node ${node})`);
}

/** Read from the file, because the package knows it first. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
