/** The keys of a JSON schema, as far as ours have any. */
export interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** All keys, those of keys too, with what is said about them. */
export function keysOf(
  { properties = {}, additionalProperties: entries, items, anyOf = [] }: Schema,
  path: string,
): { readonly path: string; readonly description: string | undefined }[] {
  const own = Object.entries(properties).flatMap(([key, value]) => {
    const inner = `${path}.${key}`;
    return [{ path: inner, description: value.description }, ...keysOf(value, inner)];
  });
  const unnamed = [...anyOf, items, typeof entries === "object" ? entries : undefined];
  return own.concat(unnamed.flatMap((each) => (each === undefined ? [] : keysOf(each, `${path}.*`))));
}
