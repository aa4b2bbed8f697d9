import { expect, test } from "vitest";

import { readProject } from "./read-project.ts";

test("the project note of the protocol is read in full", () => {
  const text = `---
type: project
created: 2026-03-28
status: active
---

## Next Action
- Implement webhook handler for failed payments

## Notes
- Agent: billing-dev at ~/Projects/billing-service
- Stack: Python, FastAPI, PostgreSQL
`;
  expect(readProject(text)).toMatchObject({
    type: "project",
    created: "2026-03-28",
    status: "active",
    nextActions: ["Implement webhook handler for failed payments"],
    notes: ["Agent: billing-dev at ~/Projects/billing-service", "Stack: Python, FastAPI, PostgreSQL"],
    problems: [],
  });
});

test("the template of the protocol, and an empty file, have nothing in them", () => {
  const template =
    "---\ntype: project\ncreated: YYYY-MM-DD\nstatus: active\n---\n## Next Action\n\n## Notes\n";
  for (const text of [template, "", "\uFEFF"])
    expect(readProject(text)).toMatchObject({ nextActions: [], notes: [], problems: [] });
});

test("a next action may be a line of text", () => {
  expect(readProject("## Next actions\n\nShip it.\r\n\r\nTell them.\r\n").nextActions).toEqual([
    "Ship it.",
    "Tell them.",
  ]);
});
