import type { Feature } from "../../feature/feature.ts";

export const slack: Feature = {
  name: "slack",
  channel: async () => (await import("./slack.ts")).slack,
};
