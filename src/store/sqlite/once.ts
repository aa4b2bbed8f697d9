import type { Database } from "better-sqlite3";

/** Prepares statements once for each connection, however many operations use them. */
export function oncePerDatabase<T>(prepare: (db: Database) => T): (db: Database) => T {
  const prepared = new WeakMap<Database, T>();
  return (db) => {
    const known = prepared.get(db);
    if (known !== undefined) return known;
    const made = prepare(db);
    prepared.set(db, made);
    return made;
  };
}

/** Prepares statements on first use: most are never used. */
export function lazily<T>(prepare: () => T): () => T {
  let prepared: T | undefined;
  return () => (prepared ??= prepare());
}
