/** The current agents and templates of relays, read on first use, and the announcement of their changes. */
import { configFolder } from "../../config/read.ts";
import { refusedText, reloadedText } from "./reload-texts.ts";
import type { RelayConfig } from "./snapshot.ts";
import { type RelayConfigWatch, watchRelayConfig } from "./watch.ts";
import { writeRelaySchemas } from "./shipped-files.ts";
import { noticesTo } from "../../delivery/address.ts";
import type { Ports } from "../../feature/ports.ts";

export class WatchedRelayConfig implements AsyncDisposable {
  readonly #ports: Ports;
  #watching: Promise<RelayConfigWatch> | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async read(): Promise<RelayConfig> {
    return (await this.#watch()).current;
  }

  /** `files` are those known to have changed. Works before the first use too. */
  lookAgain(files: readonly string[] = []): void {
    const looked = this.#watching?.then((watch) => watch.check()) ?? this.#lookFirst(files);
    looked.catch((error: unknown) => this.#ports.log(`Cannot read relay files: ${String(error)}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watch = await this.#watching?.catch(() => undefined);
    await watch?.[Symbol.asyncDispose]();
  }

  #watch(): Promise<RelayConfigWatch> {
    return (this.#watching ??= this.#open().catch((error: unknown) => {
      this.#watching = undefined; // the next use tries again
      throw error;
    }));
  }

  async #open(): Promise<RelayConfigWatch> {
    const { home, environment, settings } = this.#ports;
    await writeRelaySchemas(home);
    return watchRelayConfig({
      folders: {
        home,
        config: configFolder(home),
        user: environment["HOME"] ?? environment["USERPROFILE"],
      },
      context: () => ({ profiles: Object.keys(settings.config().profiles) }),
      listener: {
        onChange: (_, files) => this.#tell(reloadedText(files)),
        onProblems: (problems, refused) => this.#tell(refusedText(problems, refused)),
      },
    });
  }

  /** Before the first use, a change has nothing to be compared with, but is announced all the same. */
  async #lookFirst(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    const { problems } = await this.read();
    if (problems.length === 0) this.#tell(reloadedText(files));
  }

  /** Announces a change in the log, to clients, and at the owner's admin place. */
  #tell(text: string): void {
    const { log, live, settings, store, mintId } = this.#ports;
    log(text);
    live.announce("config.changed");
    const { admin } = settings.config();
    const notices = admin === undefined ? [] : noticesTo({ ...admin }, text, mintId);
    for (const notice of notices) {
      store.outbox.notify(notice).catch((error: unknown) => log(`Cannot notify the owner: ${String(error)}`));
    }
  }
}
