/** The module of this name in the same folder: TypeScript in a checkout, JavaScript when installed. */
export function moduleBeside(from: string, name: string): URL {
  const extension = from.endsWith(".ts") ? "ts" : "js";
  return new URL(`./${name}.${extension}`, from);
}
