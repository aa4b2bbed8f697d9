import type { Feature } from "../../feature/feature.ts";

export const discord: Feature = {
  name: "discord",
  channel: async () => (await import("./discord.ts")).discord,
};
