import { readFile } from "node:fs/promises";

export async function run(): Promise<number> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  console.log(`cortex ${version} (node ${process.versions.node})`);
  return 0;
}
