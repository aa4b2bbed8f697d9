import type { Address } from "./served.ts";

/** Where the server is, for senders to whom it matters little that it dies again and again. */
export class Door {
  #address: Address | undefined;
  #isClosed = false;
  #moved = Promise.withResolvers<void>();

  /** Tells everybody where the server is now. Undefined: it is gone. */
  move(address: Address | undefined): void {
    this.#address = address;
    this.#announce();
  }

  /** Sends the senders home. */
  close(): void {
    this.#isClosed = true;
    this.#announce();
  }

  /** Waits for a server, another one than `gone`. Undefined: the senders are to go home. */
  async find(gone?: Address): Promise<Address | undefined> {
    while (!this.#isClosed && (this.#address === undefined || this.#address === gone)) {
      await this.#moved.promise;
    }
    return this.#isClosed ? undefined : this.#address;
  }

  #announce(): void {
    const { resolve } = this.#moved;
    this.#moved = Promise.withResolvers();
    resolve();
  }
}
