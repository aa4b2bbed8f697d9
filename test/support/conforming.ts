/** The chat channels that come with Cortex, and the platforms that are played for them. */
import type { Counterpart } from "../../src/channels/kit/counterpart.ts";
import { startSlackCounterpart } from "./slack-counterpart.ts";
import { startDiscordCounterpart } from "./discord-counterpart.ts";
import { startTelegramCounterpart } from "./telegram-counterpart.ts";

export const CONFORMING: Readonly<Record<string, () => Promise<Counterpart>>> = {
  discord: startDiscordCounterpart,
  telegram: startTelegramCounterpart,
  slack: startSlackCounterpart,
};
