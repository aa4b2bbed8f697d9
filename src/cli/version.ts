import { readFileSync } from "node:fs";

/** Read from the file, because the package knows it first. */
export function version(json: boolean): void {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  const { node } = process.versions;
  console.log(json ? JSON.stringify({ version, node }) : `cortex ${version} (node ${node})`);
}
