import * as fc from "fast-check";
import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { parseEndpoint } from "../templates/endpoint.ts";
import type { RelayRecord } from "../record/record.ts";
import { beginSteps, follow, type StepStart } from "../record/record-step.ts";
import type {
  RelayAgent,
  RelayCondition,
  RelayScope,
  RelayTemplate,
  RelayTransition,
} from "../templates/snapshot.ts";
import { decideNext, type Decision, edgeOf, type StepTexts } from "./transitions.ts";

type Names = string | readonly string[];

const ends = (names: Names) => [names].flat().map(parseEndpoint);
const rule = (from: Names, to: Names, condition: RelayCondition = { type: "always" }): RelayTransition => ({
  from: ends(from),
  to: ends(to),
  condition,
});
const contains = (pattern: string, scope: RelayScope = "artifact"): RelayCondition => ({
  type: "output_contains",
  pattern,
  scope,
});
const converges = (more: Partial<Extract<RelayCondition, { type: "convergence" }>> = {}): RelayCondition => ({
  type: "convergence",
  marker: "[DONE]",
  maxIterations: 3,
  scope: "artifact",
  ...more,
});

const agent = (name: string, stages?: readonly string[]): RelayAgent => ({
  name,
  description: "",
  profile: "main",
  persistSession: false,
  pluginDirs: [],
  ...(stages === undefined
    ? {}
    : {
        entryStage: stages[0]!,
        stages: Object.fromEntries(
          stages.map((stage) => [stage, { description: "", promptTemplate: "", continuesSession: false }]),
        ),
      }),
});

function template(
  transitions: readonly RelayTransition[],
  limits: Partial<RelayTemplate> = {},
): RelayTemplate {
  return {
    name: "test",
    description: "",
    agents: [
      agent("planner"),
      agent("coder", ["implement", "review"]),
      agent("reviewer"),
      agent("a"),
      agent("b"),
    ],
    transitions,
    entryAgent: "planner",
    maxTotalSteps: 10,
    hooks: {},
    ...limits,
  };
}

/** A relay whose steps were these, one after the other; those in one list ran side by side. */
function after(...legs: readonly Names[]): RelayRecord {
  let record = testRecord();
  for (const [index, names] of legs.entries()) {
    if (index > 0) record = follow(record, { to: ends(names), counted: undefined }, 0);
    else record = { ...record, active: ends(names) };
    const first = record.steps.length;
    record = beginSteps(record, ends(names).map(agentStep), 0);
    for (let at = first; at < record.steps.length; at += 1) record = endStep(record, at);
  }
  return record;
}

const nothing: StepTexts = { before: "", artifact: "", output: "" };
const wrote = (artifact: string): StepTexts => ({ ...nothing, artifact });

function next(
  rules: RelayTemplate | undefined,
  record: RelayRecord,
  texts: StepTexts = nothing,
): Promise<Decision> {
  return decideNext({ template: rules, record, texts });
}

const go = (to: Names, counted?: string) => ({ kind: "go", to: ends(to), counted });
const stop = (stopReason: string, abortReason: string | null = null) => ({
  kind: "stop",
  stopReason,
  abortReason,
});
const NO_RULE = stop("no_matching_transition");

test("a step is followed by what its rule leads to", async () => {
  expect(await next(template([rule("planner", "reviewer")]), after("planner"))).toEqual(go("reviewer"));
});

test("the first rule that fits wins, in the order of the file", async () => {
  const rules = template([
    rule("planner", "a", contains("never")),
    rule("planner", "b", contains("plan")),
    rule("planner", "reviewer"),
  ]);
  expect(await next(rules, after("planner"), wrote("the plan"))).toEqual(go("b"));
  expect(await next(rules, after("planner"), wrote("nothing"))).toEqual(go("reviewer"));
});

test("where no rule fits, the relay stops", async () => {
  expect(await next(template([]), after("planner"))).toEqual(NO_RULE);
  expect(await next(template([rule("reviewer", "a")]), after("planner"))).toEqual(NO_RULE);
  expect(await next(template([rule("planner", "a", contains("x"))]), after("planner"))).toEqual(NO_RULE);
});

test("a single agent is followed by nothing", async () => {
  expect(await next(undefined, after("planner"))).toEqual(NO_RULE);
});

test("a relay without steps has no rule to follow", async () => {
  expect(await next(template([rule("planner", "a")]), after())).toEqual(NO_RULE);
});

test("planner, coder:implement, coder:review and reviewer follow each other", async () => {
  const rules = template([
    rule("planner", "coder:implement"),
    rule("coder:implement", "coder:review"),
    rule("coder:review", "reviewer"),
  ]);
  expect(await next(rules, after("planner"))).toEqual(go("coder:implement"));
  expect(await next(rules, after("planner", "coder:implement"))).toEqual(go("coder:review"));
  expect(await next(rules, after("planner", "coder:implement", "coder:review"))).toEqual(go("reviewer"));
  expect(await next(rules, after("planner", "coder:implement", "coder:review", "reviewer"))).toEqual(NO_RULE);
});

test("a rule from a bare agent fits every stage, and one to a bare agent leads to its first", async () => {
  const rules = template([rule("coder", "reviewer"), rule("reviewer", "coder")]);
  expect(await next(rules, after("coder:review"))).toEqual(go("reviewer"));
  expect(await next(rules, after("coder:implement"))).toEqual(go("reviewer"));
  expect(await next(rules, after("reviewer"))).toEqual(go("coder:implement"));
});

test("a step without a stage is one of the stage that its agent begins with", async () => {
  expect(await next(template([rule("coder:implement", "a")]), after("coder"))).toEqual(go("a"));
});

test("a rule may ask for a pattern, or for its absence", async () => {
  const rules = template([
    rule("planner", "a", { type: "output_not_contains", pattern: "(?i)done", scope: "artifact" }),
    rule("planner", "b", contains("D.NE")),
  ]);
  expect(await next(rules, after("planner"), wrote("almost"))).toEqual(go("a"));
  expect(await next(rules, after("planner"), wrote("DONE"))).toEqual(go("b"));
});

test("an empty pattern is found in every text, also an empty one", async () => {
  expect(await next(template([rule("planner", "a", contains(""))]), after("planner"))).toEqual(go("a"));
});

test("a pattern that explodes elsewhere decides at once", async () => {
  const rules = template([rule("planner", "a", contains("^(a+)+$"))]);
  expect(await next(rules, after("planner"), wrote(`${"a".repeat(100_000)}!`))).toEqual(NO_RULE);
});

test("a condition looks at the artifact, and at the answer where that cannot be read", async () => {
  const rules = template([rule("planner", "a", contains("yes"))]);
  expect(await next(rules, after("planner"), { ...nothing, artifact: "yes", output: "no" })).toEqual(go("a"));
  expect(await next(rules, after("planner"), { ...nothing, artifact: "", output: "yes" })).toEqual(NO_RULE);
  expect(await next(rules, after("planner"), { ...nothing, artifact: undefined, output: "yes" })).toEqual(
    go("a"),
  );
});

test("a scope narrows a condition to what the step added, or to its answer", async () => {
  const texts: StepTexts = { before: "old\n", artifact: "old\nnew\n", output: "said" };
  const asks = async (pattern: string, scope: RelayScope) =>
    (await next(template([rule("planner", "a", contains(pattern, scope))]), after("planner"), texts)).kind;
  expect(await asks("old", "artifact")).toBe("go");
  expect(await asks("old", "step")).toBe("stop");
  expect(await asks("new", "step")).toBe("go");
  expect(await asks("new", "output")).toBe("stop");
  expect(await asks("said", "output")).toBe("go");
});

test("an abort comes before limits and rules", async () => {
  const rules = template([rule("planner", "a")], { maxTotalSteps: 1 });
  expect(await next(rules, after("planner"), wrote("[ABORT: no data]"))).toEqual(stop("aborted", "no data"));
  expect(await next(rules, after("planner"), wrote("[ABORT]"))).toEqual(stop("aborted"));
});

test("a single agent can abort as well", async () => {
  expect(await next(undefined, after("planner"), wrote("[ABORT: x]"))).toEqual(stop("aborted", "x"));
});

test("an abort that an earlier step wrote is over", async () => {
  const texts: StepTexts = { before: "[ABORT: x]\n", artifact: "[ABORT: x]\nmore\n", output: "" };
  expect(await next(template([rule("planner", "a")]), after("planner"), texts)).toEqual(go("a"));
});

test("the answer aborts only where the artifact cannot be read", async () => {
  const rules = template([rule("planner", "a")]);
  expect(await next(rules, after("planner"), { ...nothing, output: "[ABORT]" })).toEqual(go("a"));
  expect(
    await next(rules, after("planner"), { before: "[ABORT]", artifact: undefined, output: "[ABORT]" }),
  ).toEqual(stop("aborted"));
});

test("the tool aborts whatever the artifact says", async () => {
  expect(
    await next(template([rule("planner", "a")]), after("planner"), {
      ...nothing,
      abort: { reason: "stuck" },
    }),
  ).toEqual(stop("aborted", "stuck"));
});

test("at the limit of steps the relay stops, before any rule", async () => {
  const rules = template([rule("planner", "planner")], { maxTotalSteps: 2 });
  expect(await next(rules, after("planner"))).toEqual(go("planner"));
  expect(await next(rules, after("planner", "planner"))).toEqual(stop("max_iterations"));
});

test("at the limit of cost the relay stops", async () => {
  const rules = template([rule("planner", "a")], { maxTotalCostUsd: 1 });
  const record = after("planner");
  expect(await next(rules, { ...record, totalCostUsd: 0.99 })).toEqual(go("a"));
  expect(await next(rules, { ...record, totalCostUsd: 1 })).toEqual(stop("cost_limit"));
});

test("steps that scripts asked for cost money, count for no limit of steps and are left by no rule", async () => {
  const rules = template([rule("planner", "a"), rule("b", "reviewer")], {
    maxTotalSteps: 2,
    maxTotalCostUsd: 1,
  });
  const planned = after("planner");
  const inserted: StepStart = { kind: "inserted", slot: "b", stage: null, input: "", session: "" };
  const cheap = endStep(beginSteps(planned, [inserted], 0), 1, { costUsd: 0.5 });
  expect(await next(rules, cheap)).toEqual(go("a"));
  expect(await next(rules, endStep(beginSteps(cheap, [inserted], 0), 2, { costUsd: 0.5 }))).toEqual(
    stop("cost_limit"),
  );
});

test("forward, a marker leads on, and without it the agent runs again until it has run often enough", async () => {
  const rules = template([rule("coder:implement", "coder:review", converges({ maxIterations: 5 }))]);
  const edge = "coder:implement→coder:review";
  let record = after("coder:implement");
  expect(await next(rules, record, wrote("ready [DONE]"))).toEqual(go("coder:review"));
  for (let run = 1; run < 5; run += 1) {
    const decision = await next(rules, record);
    expect(decision).toEqual(go("coder:implement", edge));
    if (decision.kind !== "go") return;
    record = follow(record, decision, 0);
    expect(record.iterationCounts).toEqual({ [edge]: run });
    record = endStep(beginSteps(record, decision.to.map(agentStep), 0), record.steps.length);
  }
  expect(record.steps).toHaveLength(5);
  expect(await next(rules, record)).toEqual(stop("max_iterations"));
  expect(await next(rules, record, wrote("[DONE]"))).toEqual(go("coder:review"));
});

test("back, a marker ends the relay, and without it the edge is taken so many times at most", async () => {
  const rules = template([rule("a", "reviewer"), rule("reviewer", "a", converges({ maxIterations: 1 }))]);
  const record = after("a", "reviewer");
  expect(await next(rules, record, wrote("[DONE]"))).toEqual(stop("converged"));
  expect(await next(rules, record)).toEqual(go("a", "reviewer→a"));
  expect(await next(rules, { ...record, iterationCounts: { "reviewer→a": 1 } })).toEqual(
    stop("max_iterations"),
  );
});

test("what an edge says about its marker decides how it reads", async () => {
  const rules = template([rule("planner", "a", converges({ onMarker: "stop" }))]);
  expect(await next(rules, after("planner"), wrote("[DONE]"))).toEqual(stop("converged"));
  expect(await next(rules, after("planner"))).toEqual(go("a", "planner→a"));
});

test("an edge of convergence always decides: later rules are not asked", async () => {
  const rules = template([rule("planner", "a", converges({ maxIterations: 1 })), rule("planner", "b")]);
  expect(await next(rules, after("planner"))).toEqual(stop("max_iterations"));
});

test("an edge without a marker never finds it", async () => {
  const { marker: _, ...condition } = converges() as Extract<RelayCondition, { type: "convergence" }>;
  expect(
    await next(template([rule("planner", "a", condition)]), after("planner"), wrote("undefined")),
  ).toEqual(go("planner", "planner→a"));
});

test("a marker may be asked for in what the step added", async () => {
  const rules = template([rule("planner", "a", converges({ scope: "step" }))]);
  expect(await next(rules, after("planner"), { ...nothing, before: "[DONE]", artifact: "[DONE]" })).toEqual(
    go("planner", "planner→a"),
  );
});

test("a retry loop runs the reviewer a second time and ends after four steps", async () => {
  const rules = template([rule("a", "reviewer"), rule("reviewer", "a", converges())]);
  const texts = [nothing, nothing, nothing, wrote("[DONE]")];
  let record = after("a");
  let decision = await next(rules, record);
  while (decision.kind === "go") {
    record = follow(record, decision, 0);
    record = endStep(beginSteps(record, decision.to.map(agentStep), 0), record.steps.length);
    decision = await next(rules, record, texts[record.steps.length - 1]);
  }
  expect(decision).toEqual(stop("converged"));
  expect(record.steps.map(({ agentSlotId }) => agentSlotId)).toEqual(["a", "reviewer", "a", "reviewer"]);
});

test("a rule may lead to several agents, and another leads on when all of them have ended", async () => {
  const rules = template([rule("planner", ["a", "b"]), rule(["a", "b"], "reviewer")]);
  expect(await next(rules, after("planner"))).toEqual(go(["a", "b"]));
  expect(await next(rules, after("planner", ["a", "b"]))).toEqual(go("reviewer"));
});

test("while one of several still runs, the others wait", async () => {
  const rules = template([rule(["a", "b"], "reviewer"), rule("a", "planner")]);
  const record = beginSteps(after("a"), [agentStep({ agent: "b", stage: null })], 0);
  expect(await next(rules, record)).toEqual({ kind: "wait" });
  expect(await next(rules, record, wrote("[ABORT]"))).toEqual(stop("aborted"));
});

test("a rule from one of several, or from more than there are, does not fit", async () => {
  const rules = template([rule("a", "planner"), rule(["a", "b", "reviewer"], "planner")]);
  expect(await next(rules, after(["a", "b"]))).toEqual(NO_RULE);
});

test("several agents without the marker all run again", async () => {
  const rules = template([rule(["a", "b"], "reviewer", converges())]);
  expect(await next(rules, after(["a", "b"]))).toEqual(go(["a", "b"], "a,b→reviewer"));
});

test("several agents at once do not exceed the limit of steps", async () => {
  const rules = template([rule("planner", ["a", "b"])], { maxTotalSteps: 2 });
  expect(await next(rules, after("planner"))).toEqual(stop("max_iterations"));
});

test("an edge is known by its ends", () => {
  expect(edgeOf(rule("coder:review", ["a", "b"]))).toBe("coder:review→a,b");
});

test("whatever the rules and the texts, a relay ends within its limit of steps", async () => {
  const names = fc.constantFrom<Names>("a", "b", "coder", "coder:review", ["a", "b"]);
  const condition = fc.oneof(
    fc.constant<RelayCondition>({ type: "always" }),
    fc.constantFrom<RelayScope>("artifact", "step", "output").map((scope) => contains("x", scope)),
    fc.record({ maxIterations: fc.integer({ min: 1, max: 4 }), marker: fc.constant("x") }).map(converges),
  );
  const rules = fc.array(fc.tuple(names, names, condition), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      rules,
      fc.integer({ min: 1, max: 8 }),
      fc.infiniteStream(fc.boolean()),
      async (all, maxTotalSteps, says) => {
        const walked = template(
          all.map(([from, to, asked]) => rule(from, to, asked)),
          { maxTotalSteps },
        );
        let record = after("a");
        let decision = await next(walked, record, wrote(says.next().value ? "x" : ""));
        while (decision.kind === "go") {
          const first = record.steps.length;
          record = beginSteps(follow(record, decision, 0), decision.to.map(agentStep), 0);
          for (let at = first; at < record.steps.length; at += 1) record = endStep(record, at);
          decision = await next(walked, record, wrote(says.next().value ? "x" : ""));
        }
        expect(decision.kind).toBe("stop");
        expect(record.steps.length).toBeLessThanOrEqual(maxTotalSteps);
        expect(JSON.parse(JSON.stringify(record))).toEqual(record);
      },
    ),
  );
});
