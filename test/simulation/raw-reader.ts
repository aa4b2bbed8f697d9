import Database from "better-sqlite3";

/**
 * Reads the database past the store. It stays open for a whole seed, over all crashes: the schema is read and each
 * statement is prepared once, and every statement sees what is committed when it runs.
 */
export class RawReader implements Disposable {
  readonly db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(path: string) {
    this.db = new Database(path, { readonly: true });
  }

  all(sql: string, ...params: readonly unknown[]): unknown[] {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.db.prepare(sql)));
    return statement.all(...params);
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}
