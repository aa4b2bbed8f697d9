import { readFileSync } from "node:fs";

import { ownFile } from "../model/own-files.ts";

/** Read from the file, because the package knows it first. */
export function readVersion(): string {
  const text = readFileSync(ownFile("package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
