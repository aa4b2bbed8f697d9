import { readVersion } from "../config/version.ts";

export function version(json: boolean): void {
  const version = readVersion();
  const { node } = process.versions;
  console.log(json ? JSON.stringify({ version, node }) : `cortex ${version} (node ${node})`);
}
