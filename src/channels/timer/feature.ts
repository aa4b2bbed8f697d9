import type { Feature } from "../../feature/feature.ts";

/** One event a minute, for hooks with a schedule. */
export const timer: Feature = {
  name: "timer",
  open: async (ports) => (await import("./timer.ts")).openTimer(ports),
};
