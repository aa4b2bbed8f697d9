import type { ProgramWatch } from "../../src/model/bounds.ts";

/** For a program that starts nothing that leaves its group. */
export const DONE_WATCH: ProgramWatch = {
  environment: {},
  exceeded: new Promise(() => {}),
  begin: () => {},
  terminate: async () => {},
  end: async () => {},
};
