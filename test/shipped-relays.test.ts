/** The templates that come with Cortex, each run to its end with a model that plays a script. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { printEndpoint } from "../src/relay/templates/endpoint.ts";
import type { RelayRecord } from "../src/relay/record/record.ts";
import { openCortex } from "../src/runtime/cortex.ts";
import { addShippedRelays } from "../src/relay/templates/shipped-files.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

/**
 * An agent that is known by words of its prompt, where it also finds the path of the artifact. It begins the artifact, or
 * adds to it after some text; while that is not there, it changes nothing.
 */
function adds(when: string, text: string, after?: string): string {
  const call =
    after === undefined
      ? { tool: "Write", args: { path: "$1$2", content: `${text}\n` } }
      : { tool: "Edit", args: { path: "$1$2", edits: [{ oldText: after, newText: `${after}\n${text}` }] } };
  const plays = [{ calls: [call] }, { say: `I have added ${text}` }];
  const path = "(/\\S+/artifact\\.md)";
  return `- ${JSON.stringify({ when: `(?s)${path}.*${when}|${when}.*?${path}`, plays })}`;
}

interface Case {
  readonly template: string;
  readonly script: readonly string[];
  readonly path: readonly string[];
  readonly headings: readonly string[];
}

const CASES: readonly Case[] = [
  {
    template: "coder-review",
    script: [
      adds("Examine the code", "[REVIEW: APPROVED]", "# Revision"),
      adds("Your work was returned", "# Revision", "# Implementation"),
      adds("If it contains a plan, carry out the plan", "# Implementation"),
    ],
    path: ["coder:implement", "reviewer", "coder:revise", "reviewer"],
    headings: ["# Implementation", "# Revision", "[REVIEW: APPROVED]"],
  },
  {
    template: "plan-implement-test",
    script: [
      adds("Find out how tests are run here", "[TESTS: PASS]", "# Fix"),
      adds("Tests fail", "# Fix", "# Implementation"),
      adds("If it contains a plan, carry out the plan", "# Implementation", "# Plan"),
      adds("Then write these sections", "# Plan"),
    ],
    path: ["planner", "coder:implement", "tester", "coder:fix", "tester"],
    headings: ["# Plan", "# Implementation", "# Fix", "[TESTS: PASS]"],
  },
  {
    template: "research",
    script: [
      adds("Examine the answer", "[CRITIQUE: SOUND]", "# Revision"),
      adds("Your work was returned", "# Revision", "# Answer"),
      adds("from the survey", "# Answer", "# Survey"),
      adds("Survey what is known", "# Survey"),
    ],
    path: ["surveyor", "synthesiser:write", "critic", "synthesiser:revise", "critic"],
    headings: ["# Survey", "# Answer", "# Revision", "[CRITIQUE: SOUND]"],
  },
  {
    template: "doc-review",
    script: [
      adds("Examine the document", "[DOC: READY]", "# Revision"),
      adds("Your work was returned", "# Revision", "# A document"),
      adds("If it names a file, that file is the document", "# A document"),
    ],
    path: ["doc-writer:draft", "doc-reviewer", "doc-writer:revise", "doc-reviewer"],
    headings: ["# A document", "# Revision", "[DOC: READY]"],
  },
];

async function runShipped(
  template: string,
  script: string,
): Promise<{ record: RelayRecord; artifact: string }> {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "config"), { recursive: true });
  addShippedRelays(home.path);
  writeHome(home.path, { script, cortex: { sandbox: "off" } });
  await using cortex = await openCortex({ home: home.path, environment: { PATH: process.env["PATH"] } });
  const { id } = await cortex.relays.run({ name: template, message: "Do something useful" });
  const record = await cortex.relays.ended(id, AbortSignal.timeout(PATIENT.timeout));
  if (record === undefined) throw new Error("It has not ended in time");
  return { record, artifact: (await cortex.relays.artifact(id)) ?? "" };
}

test.each(CASES)("$template comes to its end in two rounds", async (expected) => {
  const { template, script, path, headings } = expected;
  const { record, artifact } = await runShipped(template, script.join("\n"));
  const steps = record.steps.map(({ agentSlotId, stage }) => printEndpoint({ agent: agentSlotId, stage }));
  expect([steps, record.status, record.stopReason, record.error]).toEqual([
    path,
    "completed",
    "converged",
    null,
  ]);
  for (const heading of headings) expect(artifact).toContain(heading);
});

test.each(CASES)("$template ends at a limit where nobody is ever content", async (given) => {
  const { record } = await runShipped(given.template, "[]");
  expect([record.status, record.stopReason]).toEqual(["completed", "max_iterations"]);
  expect(record.steps.length).toBeGreaterThan(given.path.length);
});
