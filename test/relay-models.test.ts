/** The examples of the original on a model server that speaks a provider's protocol: prompts, tools and sessions as they are sent. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import type { RelayRecord } from "../src/relay/record/record.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { type ModelRequest, type Reply, startModelServer } from "./support/model-server.ts";
import { SEED_FILES } from "./support/relay-home.ts";
import { temporaryFolder } from "./support/temporary.ts";

const NEVER = new AbortController().signal;
const MARKER = "[IMPLEMENTATION COMPLETE]";

interface Run {
  readonly record: RelayRecord;
  readonly artifact: string;
  readonly requests: readonly ModelRequest[];
  readonly problems: readonly string[];
  readonly home: string;
}

/** Runs a relay to its end, with a home of these files, and looks at it before the home goes. */
async function runRelay(
  files: Readonly<Record<string, unknown>>,
  request: { readonly name: string; readonly message: string },
  answer: (request: ModelRequest) => Reply,
  look: (run: Run) => void,
): Promise<void> {
  await using model = await startModelServer({ answer, strict: true });
  using folder = temporaryFolder();
  const profile = { provider: "openai-compatible", baseUrl: model.openaiUrl, model: "m" };
  writeHome(folder.path, {
    profiles: {
      defaultProfile: "claude-sonnet",
      profiles: { "claude-sonnet": profile, "claude-haiku": { ...profile, model: "small" } },
    },
  });
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder.path, path);
    mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true });
    if (!path.endsWith("/"))
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  await using cortex = await openTestCortex({}, { home: folder.path });
  const { id } = await cortex.relays.run(request);
  const record = (await cortex.relays.ended(id, NEVER))!;
  const artifact = (await cortex.relays.artifact(id)) ?? "";
  look({ record, artifact, requests: model.requests, problems: model.problems, home: folder.path });
}

/** What the newest message of a person, or of the relay, says. */
function asked({ messages }: ModelRequest): string {
  return messages.findLast(({ role }) => role === "user")!.text;
}

function isAfterCall({ messages }: ModelRequest): boolean {
  return messages.at(-1)!.role === "tool";
}

/** A call that adds a line to the artifact that the prompt names. */
function append(request: ModelRequest, line: string): Reply {
  const path = /\/\S+artifact\.md/.exec(asked(request))![0];
  return { calls: [{ name: "Write", arguments: { path, content: `${line}\n` } }] };
}

test("planner, coder in two stages and reviewer pass the artifact along, and the script at the end is asked", async () => {
  const files = {
    ...SEED_FILES,
    "hooks/post-task-hook.mjs": `
      import { appendFileSync } from "node:fs";
      appendFileSync("ended.txt", "once\\n");
      console.log(JSON.stringify({ insertAgent: false }));`,
  };
  const answer = (request: ModelRequest): Reply => {
    const said = asked(request);
    if (said.includes("You are implementing"))
      return isAfterCall(request) ? { text: "implemented" } : append(request, "the code");
    if (said.includes("You are reviewing")) return { text: "looked at" };
    return { text: said.includes("research planner") ? "the plan" : "fine" };
  };
  const request = { name: "coder-review", message: "Implement user authentication" };
  await runRelay(files, request, answer, ({ record, artifact, requests, problems, home }) => {
    expect(problems).toEqual([]);
    expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
    expect(record.steps.map(({ agentSlotId, stage, output }) => [agentSlotId, stage, output])).toEqual([
      ["planner", null, "the plan"],
      ["coder", "implement", "implemented"],
      ["coder", "review", "looked at"],
      ["reviewer", null, "fine"],
    ]);
    expect(artifact).toBe("the code\n");
    expect(readFileSync(join(home, "ended.txt"), "utf8")).toBe("once\n");
    const review = requests.find((each) => asked(each).includes("You are reviewing"))!;
    // The stage goes on in the coder's session, and is told nothing again.
    expect(review.messages.some(({ text }) => text.includes("You are implementing"))).toBe(true);
    expect(asked(review)).not.toContain("[Cortex Thread Protocol]");
  });
});

test("an agent runs again until its marker is in the artifact, and the relay goes on", async () => {
  const coder = {
    profile: "claude-sonnet",
    persistSession: true,
    stages: {
      implement: { promptTemplate: "Implement {{input}} in {{artifactPath}}." },
      review: { promptTemplate: "Review {{artifactPath}}.", continuesSession: true },
    },
    entryStage: "implement",
  };
  const condition = { type: "convergence", marker: MARKER, maxIterations: 5 };
  const templates = {
    agents: { coder },
    templates: {
      until: {
        description: "Implements until it is complete",
        agents: ["coder"],
        transitions: [{ from: "coder:implement", to: "coder:review", condition }],
        entryAgent: "coder",
        maxTotalSteps: 10,
      },
    },
  };
  let rounds = 0;
  const answer = (request: ModelRequest): Reply => {
    if (isAfterCall(request) || asked(request).includes("Review ")) return { text: "done" };
    rounds++;
    return append(request, rounds < 3 ? "more to do" : MARKER);
  };
  const request = { name: "until", message: "a parser" };
  await runRelay({ "config/thread-templates.json": templates }, request, answer, ({ record, problems }) => {
    expect(problems).toEqual([]);
    expect(record.steps.map(({ stage }) => stage)).toEqual(["implement", "implement", "implement", "review"]);
    expect(record.iterationCounts).toEqual({ "coder:implement→coder:review": 2 });
  });
});

const INSERT = `{
  "insertAgent": true,
  "prompt": "Run post-task cleanup: verify all tests pass",
  "profile": "claude-haiku",
  "directive": "You are a cleanup agent"
}`;
const TARGET = `{
  "targetAgent": "reviewer",
  "prompt": "Double-check the results in the artifact against the original requirements"
}`;

/** The template of the original, whose script at the end answers this. */
async function runAnswered(answer: string, look: (run: Run) => void): Promise<void> {
  const files = {
    ...SEED_FILES,
    "hooks/post-task-hook.mjs": `process.stdin.resume(); console.log(${JSON.stringify(answer)});`,
  };
  const request = { name: "coder-review", message: "Implement user authentication" };
  await runRelay(files, request, () => ({ text: "answered" }), look);
}

test("a script inserts an agent of its own, on the profile that it names", async () => {
  await runAnswered(INSERT, ({ record, requests, problems }) => {
    expect(problems).toEqual([]);
    expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
    expect(record.steps).toHaveLength(5);
    expect(record.steps[4]).toMatchObject({
      agentSlotId: "hook-end",
      output: "answered",
      status: "completed",
    });
    const [first, ...others] = requests.filter(({ model }) => model === "small");
    expect(others).toEqual([]);
    expect(asked(first!)).toMatch(
      /\]\nYou are a cleanup agent\n\nRun post-task cleanup: verify all tests pass$/,
    );
    expect(first!.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });
});

test("a script sends a prompt to the session of an agent that has worked", async () => {
  await runAnswered(TARGET, ({ record, requests, problems }) => {
    expect(problems).toEqual([]);
    expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
    expect(record.steps[4]).toMatchObject({ agentSlotId: "reviewer", sessionId: record.steps[3]!.sessionId });
    const last = requests.at(-1)!;
    const said = last.messages.filter(({ role }) => role === "user").map(({ text }) => text);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain("Review /");
    expect(said[1]).toMatch(
      /\]\nDouble-check the results in the artifact against the original requirements$/,
    );
  });
});
