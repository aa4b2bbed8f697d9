/** Chat channels that are plugins: entries of `channels` with `use`. Their own settings are checked by the plugin. */
import { resolve } from "node:path";

import { z } from "zod";

import { isOwnAdapter } from "../model/event.ts";
import { conversation } from "./channels-schema.ts";
import { env, named, text } from "./schema-parts.ts";

const program = z
  .strictObject({
    command: z.array(text("Program, then its arguments.")).min(1).describe("Program that speaks JSON lines."),
    folder: text("Folder that it runs in, relative to the home; all of it is pinned.").exactOptional(),
    env: env.default([]),
  })
  .describe("Channel in another language; docs/channel-plugins.md describes the protocol.");

/** What carries the messages, and which content of it was reviewed. */
const pin = {
  use: z
    .union([text("npm package, or folder relative to the home (`./channels/irc`)."), program])
    .describe("Plugin that connects the channel."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "expected 64 hexadecimal digits" })
    .describe("Hash of the plugin's content that you reviewed; `cortex channels pin` sets it.")
    .exactOptional(),
} as const;

const account = z.looseObject(conversation);

export const channelPlugin = z.looseObject({
  ...conversation,
  ...pin,
  accounts: named(account, "Further accounts, by id.").default({}),
});

export type ChannelPlugin = z.output<typeof channelPlugin>;
export type PluginUse = ChannelPlugin["use"];

/** The folder of a plugin, as the configuration names it. Undefined: it is a package, or a program without a folder. */
export function pluginPath(use: PluginUse, home: string): string | undefined {
  if (typeof use === "string") return /^\.{0,2}\//.test(use) ? resolve(home, use) : undefined;
  return use.folder === undefined ? undefined : resolve(home, use.folder);
}

/** The settings of an account that are the plugin's own. */
export function ownSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const ours = new Set([...Object.keys(conversation), ...Object.keys(pin), "accounts"]);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !ours.has(name)));
}

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const RESERVED: ReadonlySet<string> = new Set(["http", "cli", "web", "subagent", "ledger"]);

export function isPlugin(value: unknown): value is { readonly use: unknown } {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "use");
}

interface PluginNames {
  /** Of built-in channels, and of what else has a place in `channels`. */
  readonly known: readonly string[];
  /** Of channels to come. */
  readonly later: readonly string[];
}

/** Checks all entries that are not built in. */
export function checkPlugins({ known, later }: PluginNames) {
  return ({ value, issues }: z.core.ParsePayload<Readonly<Record<string, unknown>>>): void => {
    for (const [name, entry] of Object.entries(value)) {
      if (known.includes(name)) continue;
      if (!isPlugin(entry) || later.includes(name)) {
        issues.push({ code: "unrecognized_keys", keys: [name], input: value });
        continue;
      }
      if (!NAME.test(name) || RESERVED.has(name) || isOwnAdapter(name))
        issues.push({ code: "custom", path: [name], input: entry, ...nameInvalid(name) });
      const { error } = channelPlugin.safeParse(entry);
      for (const issue of error?.issues ?? [])
        issues.push({ ...issue, path: [name, ...issue.path], input: entry } as z.core.$ZodRawIssue);
    }
  };
}

function nameInvalid(name: string) {
  const message = NAME.test(name) ? `the name ${JSON.stringify(name)} is reserved` : "invalid channel name";
  return {
    message,
    params: {
      hint: "Use another name: up to 32 lowercase letters, digits, - and _, starting with a letter.",
    },
  };
}
