/** The keys of a JSON schema, as far as ours have any. */
export interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface SchemaKey {
  readonly path: string;
  readonly description: string | undefined;
}

/** All keys, those of keys too, with what is said about them. */
export function keysOf(
  { properties = {}, additionalProperties: entries, items, anyOf = [] }: Schema,
  path: string,
): SchemaKey[] {
  const named = Object.entries(properties).flatMap(([key, value]) => {
    const inner = `${path}.${key}`;
    const own: SchemaKey[] = [{ path: inner, description: value.description }];
    return own.concat(keysOf(value, inner));
  });
  const unnamed = [...anyOf, items, typeof entries === "object" ? entries : undefined];
  return named.concat(unnamed.flatMap((each) => (each === undefined ? [] : keysOf(each, `${path}.*`))));
}
