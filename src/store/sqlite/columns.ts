/**
 * SQL from a list of fields. A field stored as it is given has its codec in one list, which yields its part of the
 * codec, of the insert and of the select: `replyTo` is the column `reply_to`.
 */

type Fields = Readonly<Record<string, unknown>>;

/** An insert with a named parameter for each field. */
export function insertInto(table: string, fields: readonly string[]): string {
  return `insert into ${table} (${fields.map(column).join(", ")})
    values (${fields.map((field) => `@${field}`).join(", ")})`;
}

/** The column of each field. */
export function columnsOf<F extends Fields>(alias: string, fields: F): Record<keyof F, string> {
  const columns = Object.keys(fields).map((field) => [field, `${alias}.${column(field)}`]);
  return Object.fromEntries(columns) as Record<keyof F, string>;
}

/** Selects the SQL of each field under the name of the field. */
export function selectFields(sql: Readonly<Record<string, string>>): string {
  return Object.entries(sql)
    .map(([field, expression]) => `${expression} as ${field}`)
    .join(", ");
}

/** Selects columns under their own names. */
export function selectColumns(alias: string, fields: Fields, except: readonly string[]): string {
  return namesOf(fields, except)
    .map((field) => `${alias}.${column(field)}`)
    .join(", ");
}

export function namesOf<F extends Fields, Except extends keyof F>(
  fields: F,
  except: readonly Except[],
): Exclude<keyof F, Except>[] {
  const left = new Set<keyof F>(Object.keys(fields));
  for (const name of except) left.delete(name);
  return [...left] as Exclude<keyof F, Except>[];
}

function column(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
