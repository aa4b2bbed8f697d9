/**
 * Something that is opened when it is first used, for what most homes never use: nothing of it is loaded before.
 * A failed opening is reported to everyone who waits for it, and the next use tries again.
 */
export class OpenOnUse<Thing extends object> {
  readonly #make: () => Promise<Thing>;
  #opening: Promise<Thing> | undefined;

  constructor(make: () => Promise<Thing>) {
    this.#make = make;
  }

  open(): Promise<Thing> {
    return (this.#opening ??= this.#make().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    }));
  }

  /** Undefined: nothing has used it yet, or it could not be opened. */
  async opened(): Promise<Thing | undefined> {
    return this.#opening?.catch(() => undefined);
  }

  /** Its methods, each of which opens it first. */
  methods(): AsyncMethods<Thing> {
    const call = async (name: PropertyKey, args: readonly unknown[]): Promise<unknown> => {
      const thing = await this.open();
      const method: unknown = Reflect.get(thing, name);
      if (typeof method !== "function") throw new TypeError(`${String(name)} is not a method`);
      return Reflect.apply(method, thing, args);
    };
    return new Proxy(Object.create(null) as AsyncMethods<Thing>, {
      // Whoever awaits an object asks whether it has `then`.
      get: (_, name) =>
        typeof name === "symbol" || name === "then" ? undefined : (...args: unknown[]) => call(name, args),
    });
  }
}

type AsyncMethods<Thing> = {
  readonly [
    Name in keyof Thing as Thing[Name] extends (...args: never[]) => Promise<unknown> ? Name : never
  ]: Thing[Name];
};
