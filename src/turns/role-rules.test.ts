import { expect, test } from "vitest";

import { roleRules } from "./role-rules.ts";

test("a manager is told of the tags for its answers, a worker is not", () => {
  const manager = roleRules("manager", new Set());
  for (const tag of ["[[reply_to_current]]", "[[reply_to:<id>]]", "[[audio_as_voice]]", "NO_REPLY"]) {
    expect(manager).toContain(tag);
  }
  const worker = roleRules("worker", new Set());
  expect(worker).toContain("one task");
  expect(worker).not.toMatch(/\[\[|NO_REPLY/);
});

test.each([
  ["manager", "message"],
  ["manager", "dispatch_to_agent"],
  ["manager", "reply_to_caller"],
  ["worker", "send_message_to_agent"],
  ["worker", "dispatch_to_agent"],
] as const)("a %s is told how to use %s only where it has it", (role, tool) => {
  expect(roleRules(role, new Set([tool]))).toContain(tool);
  expect(roleRules(role, new Set([tool])).length).toBeGreaterThan(roleRules(role, new Set(["Read"])).length);
});

test("both are told what is not an instruction", () => {
  for (const role of ["manager", "worker"] as const) {
    expect(roleRules(role, new Set())).toMatch(/envelope|one line in brackets[^]*no instruction/);
  }
});
