/**
 * SQL from a list of fields. A field that is kept as it is given has its codec in one list, from which its part of the
 * codec, the insert and the select follow: `replyTo` is the column `reply_to`.
 */

type Fields = Readonly<Record<string, unknown>>;

/** An insert with a named parameter for each field. */
export function insertInto(table: string, fields: readonly string[]): string {
  return `insert into ${table} (${fields.map(column).join(", ")})
    values (${fields.map((field) => `@${field}`).join(", ")})`;
}

/** The columns of fields, selected under the names of the fields, except those that are selected in another way. */
export function selectFields(alias: string, fields: Fields, except: readonly string[] = []): string {
  return namesOf(fields, except)
    .map((field) => `${alias}.${column(field)} as ${field}`)
    .join(", ");
}

/** The same, under the names of the columns. */
export function selectColumns(alias: string, fields: Fields, except: readonly string[] = []): string {
  return namesOf(fields, except)
    .map((field) => `${alias}.${column(field)}`)
    .join(", ");
}

function namesOf(fields: Fields, except: readonly string[]): string[] {
  return Object.keys(fields).filter((field) => !except.includes(field));
}

function column(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
