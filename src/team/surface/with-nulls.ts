type WithNulls<T> = T extends undefined
  ? null
  : T extends readonly (infer Item)[]
    ? readonly WithNulls<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: WithNulls<T[Key]> }
      : T;

/** Facts in which what is unknown is undefined, as they are shown: JSON has only null for it. */
export function withNulls<T>(value: T): WithNulls<T> {
  return nulled(value) as WithNulls<T>;
}

function nulled(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(nulled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, nulled(inner)]));
}
