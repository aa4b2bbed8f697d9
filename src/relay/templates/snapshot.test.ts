import { expect, test } from "vitest";
import { relayHome, SEED_FILES } from "../../../test/support/relay-home.ts";
import { agentIn, readSnapshot, takeSnapshot } from "./snapshot.ts";

test("a snapshot gives back what was taken, and equal configurations have equal hashes", async () => {
  using home = relayHome(SEED_FILES);
  const one = (await home.read()).templates.get("coder-review")!;
  const other = (await home.read()).templates.get("coder-review")!;
  const snapshot = takeSnapshot({ template: one, added: [] });
  expect(readSnapshot(snapshot)).toEqual({ template: one, added: [] });
  expect(takeSnapshot({ added: [], template: other })).toEqual(snapshot);
  expect(snapshot.hash).toMatch(/^[0-9a-f]{64}$/);
});

test("a change of a prompt file is another snapshot, and the old one holds the old text", async () => {
  using home = relayHome(SEED_FILES);
  const take = async () =>
    takeSnapshot({ template: (await home.read()).templates.get("coder-review")!, added: [] });
  const before = await take();
  home.write("prompts/promptTemplates/planner-prompt.md", "Plan otherwise: {{input}}");
  const after = await take();
  expect(after.hash).not.toBe(before.hash);
  expect(agentIn(readSnapshot(before), "planner")?.promptTemplate).toBe("Plan: {{input}}");
  expect(agentIn(readSnapshot(after), "planner")?.promptTemplate).toBe("Plan otherwise: {{input}}");
});

test("the first stage stays the first, though a snapshot sorts names", async () => {
  const stage = { promptTemplate: "x" };
  const staged = { profile: "offline", persistSession: true, stages: { second: stage, first: stage } };
  using home = relayHome({ "config/thread-templates.json": { agents: { coder: staged } } });
  const agent = (await home.read()).agents.get("coder")!;
  expect(agentIn(readSnapshot(takeSnapshot({ added: [agent] })), "coder")?.entryStage).toBe("second");
});

test("an agent that was added counts before the template's", async () => {
  using home = relayHome(SEED_FILES);
  const { agents, templates } = await home.read();
  const added = { ...agents.get("planner")!, description: "added" };
  const content = { template: templates.get("coder-review")!, added: [added] };
  expect(agentIn(content, "planner")).toBe(added);
  expect(agentIn(content, "coder")?.name).toBe("coder");
  expect(agentIn(content, "nobody")).toBeUndefined();
});
