import type { Feature } from "../../feature/feature.ts";

export const telegram: Feature = {
  name: "telegram",
  channel: async () => (await import("./telegram.ts")).telegram,
};
