import type { Problem } from "../../src/config/problem.ts";
import { relayHome } from "./relay-home.ts";

export type Fields = Readonly<Record<string, unknown>>;

const WRITER: Fields = { profile: "offline", persistSession: false, promptTemplate: "Write." };
const CODER: Fields = {
  profile: "offline",
  persistSession: true,
  stages: { implement: { promptTemplate: "Do." }, review: { promptTemplate: "Look." } },
  entryStage: "implement",
};
const TEMPLATE: Fields = {
  description: "Both",
  agents: ["writer", "coder"],
  transitions: [{ from: "writer", to: "coder", condition: { type: "always" } }],
  entryAgent: "writer",
  maxTotalSteps: 5,
};
const SHELL: Fields = {
  ...TEMPLATE,
  params: ["worker"],
  agents: ["writer", "{worker}"],
  transitions: edge({}, "{worker}"),
};

/** One transition. */
export function edge(condition: Fields, to: unknown = "coder", from: unknown = "writer"): unknown[] {
  return [{ from, to, condition: { type: "always", ...condition } }];
}

export interface Found {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface Change {
  agent?: Fields;
  coder?: unknown;
  template?: unknown;
  shell?: unknown;
  binding?: unknown;
  agents?: Fields;
}

/** What is found in a configuration that is right but for these changes. */
export async function check(change: Change): Promise<Found> {
  const { template, shell } = change;
  using home = relayHome({
    "config/thread-templates.json": {
      agents: { writer: { ...WRITER, ...change.agent }, coder: change.coder ?? CODER, ...change.agents },
      templates: {
        both:
          typeof template === "object" && !Array.isArray(template)
            ? { ...TEMPLATE, ...template }
            : (template ?? TEMPLATE),
        ...(change.binding === undefined ? {} : { bound: change.binding }),
      },
      ...(shell === undefined ? {} : { shells: { pair: { ...SHELL, ...shell } } }),
    },
  });
  const { problems, warnings } = await home.read();
  return { problems, warnings };
}

/** How a table of mistakes ends: where, what is said of it, and what to do about it. */
export type Mistaken = [change: Change, path: string, message: string, hint: string];

export const SOURCE = /^thread-templates\.json:\d+:\d+$/;
