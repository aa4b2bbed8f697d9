import { expect, test } from "vitest";

import { MAX_FRONTMATTER_LENGTH } from "../../model/frontmatter.ts";
import { readNote, readProject } from "./read-note.ts";

/** As the protocol shows it. */
const NOTE = `---
name: Billing Dev
project: ~/Projects/billing-service
status: active
joined: 2026-03-28
---

## Role
Build and maintain the billing service.

## Projects
- billing-service — primary project

## Capabilities
- Python/FastAPI development
- Stripe integration

## Session Log
Last session: 2026-03-28
Status: active — implemented webhook endpoint
`;

const TEMPLATE = `---
name: ""
project: ""
status: active
joined: ""
---
## Role

## Projects

## Capabilities

## Session Log
Last session: --
Status: registered
`;

test("the note of the protocol is read in full", () => {
  expect(readNote(NOTE)).toMatchObject({
    name: "Billing Dev",
    project: "~/Projects/billing-service",
    status: "active",
    runtime: undefined,
    joined: "2026-03-28",
    role: "Build and maintain the billing service.",
    projects: ["billing-service"],
    capabilities: ["Python/FastAPI development", "Stripe integration"],
    log: { last: "2026-03-28", status: "active — implemented webhook endpoint" },
    problems: [],
  });
  expect(readNote(`\uFEFF${NOTE.replaceAll("\n", "\r\n")}`)).toMatchObject({
    name: "Billing Dev",
    role: "Build and maintain the billing service.",
    capabilities: ["Python/FastAPI development", "Stripe integration"],
    log: { last: "2026-03-28", status: "active — implemented webhook endpoint" },
    problems: [],
  });
});

test("the template of the protocol has nothing in it but its status", () => {
  expect(readNote(TEMPLATE)).toMatchObject({
    name: "",
    project: undefined,
    joined: undefined,
    role: "",
    projects: [],
    capabilities: [],
    log: { last: undefined, status: "registered" },
    problems: [{ rule: "name-missing", line: 2 }],
  });
});

const withFields = (fields: string): ReturnType<typeof readNote> =>
  readNote(`---\nname: X\n${fields}\n---\n`);

test.each([
  ["runtime: cortex", "cortex"],
  ["runtime:   cortex  ", "cortex"],
  ["# comment\n\nruntime: cortex", "cortex"],
  ["runtime: cortex # ours", "cortex"],
  ["runtime: 'cor tex'", "cor tex"],
  ["runtime: 'it''s'", "it's"],
  ['runtime: "a\\tb"', "a\tb"],
  ["runtime: >\n  cor\n  tex", "cor tex"],
  ["tags: [a, b]\nruntime: cortex", "cortex"],
  ["tags:\n  - a\nruntime: cortex", "cortex"],
  ["runtime: true", "true"],
  ["runtime: 2026-03-28", "2026-03-28"],
  ["runtime: ~", undefined],
  ["runtime:", undefined],
])("of the frontmatter %j the runtime is %j", (fields, runtime) => {
  expect(withFields(fields)).toMatchObject({ name: "X", runtime, problems: [] });
});

test.each([
  ["runtime: a: b", 3],
  ["runtime: [a", 4],
  ["a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nruntime: cortex", 4],
  ["name: Y", 3],
  ["- a", 3],
  ["\truntime: x", 3],
])("the frontmatter %j is a problem of line %i, and the rest is read", (fields, line) => {
  expect(withFields(fields)).toMatchObject({
    name: "X",
    status: "active",
    problems: [{ rule: "frontmatter-invalid", line }],
  });
});

test("what is no YAML is read as its lines say", () => {
  expect(withFields("runtime: cortex\nrole: a: b").runtime).toBe("cortex");
});

test("frontmatter without an end, or with none near, is not read", () => {
  const open = { name: "", role: "Work.", problems: [{ rule: "frontmatter-open", line: 1 }] };
  expect(readNote("---\nname: X\n\n## Role\nWork.\n")).toMatchObject(open);
  const long = `---\nname: X\nlong: ${"x".repeat(MAX_FRONTMATTER_LENGTH)}\n---\n## Role\nWork.\n`;
  expect(readNote(long)).toMatchObject(open);
  expect(withFields(`long: ${"x".repeat(MAX_FRONTMATTER_LENGTH - 50)}`)).toMatchObject({
    name: "X",
    problems: [],
  });
});

test("a note without frontmatter is one of an active member, and reported", () => {
  expect(readNote("## Role\nWork.\n")).toMatchObject({
    status: "active",
    role: "Work.",
    problems: [{ rule: "frontmatter-missing", line: 1 }],
  });
});

test("a member is active or inactive, and what is neither is inactive and reported", () => {
  expect(withFields("status: Inactive")).toMatchObject({ status: "inactive", problems: [] });
  expect(withFields("status: paused")).toMatchObject({
    status: "inactive",
    problems: [{ rule: "member-status-unknown", line: 3 }],
  });
});

test("projects are named in lists of any kind, with comments and as links", () => {
  const text = "## Projects\n- [[billing-service]] — x\n* dashboard: y\n1. [[projects/api.md|API]]\n- \n";
  expect(readNote(text).projects).toEqual(["billing-service", "dashboard", "api"]);
});

test("headings in the frontmatter and in code are no sections", () => {
  const note = readNote("---\n## Role\nname: X\n---\n```\n## Role\nNo.\n```\n## Role\nYes.\n");
  expect(note.sections.map(({ title, line }) => [title, line])).toEqual([["Role", 9]]);
  expect(note.role).toBe("Yes.");
});

test.each([
  ["Last session: 2026-03-28\nStatus: new\n\nLast session: 2026-03-27\nStatus: old", "new"],
  ["Last session: 2026-03-27\nStatus: old\n\nLast session: 2026-03-28\nStatus: new", "new"],
  ["Last session: 2026-03-28\nStatus: upper\n\nLast session: 2026-03-28\nStatus: lower", "upper"],
  ["Last session: --\nStatus: registered\n### 2026-03-28\nStatus: new", "new"],
  ["Last session: 2026-03-28T10:15\nStatus: new\nLast session: 2026-03-28T09:15\nStatus: old", "new"],
  ["- **Last session:** 2026-03-28\n- **Status:** new", "new"],
])("the latest entry of the log %j is %s", (log, status) => {
  expect(readNote(`## Session Log\n${log}\n`).log.status).toBe(status);
});

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
