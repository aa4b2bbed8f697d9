/** The ports of a channel on a real store, with the files of a home and a configuration that the test changes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Config } from "../../src/config/config.ts";
import { readConfig } from "../../src/config/read.ts";
import { toOwnEvent } from "../../src/events/incoming.ts";
import type { Ports } from "../../src/feature/ports.ts";
import { configHome } from "./config-home.ts";
import type { TestStore } from "./open-store.ts";

export interface ChannelPorts
  extends Pick<Ports, "home" | "store" | "clock" | "accept" | "isJudged" | "log">, Disposable {
  readonly settings: { config(): Config; readonly variable: (name: string) => string | undefined };
  readonly lines: string[];
  /** Replaces `channels` in cortex.json. */
  configure(channels: unknown): Promise<void>;
}

export async function openChannelPorts(
  { store, clock }: TestStore,
  channels: unknown,
  variables: Readonly<Record<string, string>> = {},
): Promise<ChannelPorts> {
  const home = configHome();
  const read = async (given: unknown): Promise<Config> => {
    writeFileSync(join(home.folder, "cortex.json"), JSON.stringify({ channels: given }));
    return (await readConfig({ home: home.path, environment: {}, systemTimezone: () => "UTC" })).config;
  };
  let config = await read(channels);
  const lines: string[] = [];
  return {
    home: home.path,
    store,
    clock,
    settings: { config: () => config, variable: (name) => variables[name] },
    async accept(incoming, cursor) {
      const event = toOwnEvent(incoming);
      const { fresh } = await store.events.accept(event, cursor === undefined ? {} : { cursor });
      return { event: event.id, fresh };
    },
    isJudged: () => true,
    log: (line) => void lines.push(line),
    lines,
    async configure(given) {
      config = await read(given);
    },
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}
