import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { cortexSchema } from "../config/cortex-schema.ts";
import { MAX_IDENTITY_FILE_LENGTH } from "../personas/identity-files.ts";
import { MAX_FRONTMATTER_LENGTH } from "../model/frontmatter.ts";
import {
  MAX_COMPATIBILITY_LENGTH,
  MAX_DESCRIPTION_LENGTH,
  MAX_SKILL_NAME_LENGTH,
} from "../personas/skill-file.ts";
import { MAX_ATTACHMENT_LINE_LENGTH, MAX_ATTACHMENT_LINES, MAX_ENVELOPE_LENGTH } from "./query.ts";
import { FULL_SHARE } from "./make-room.ts";
import { MAX_HIT_LENGTH, MAX_MEMORY_TOKENS, MEMORY_SHARE } from "./memory.ts";
import { MAX_SYSTEM_TOKENS, SKILLS_SHARE, SYSTEM_SHARE } from "./system-prompt.ts";

const page = readFileSync(new URL("../../docs/context.md", import.meta.url), "utf8");
const text = page.replaceAll(/\s+/g, " ");
const number = (value: number): string => value.toLocaleString("en-US");

const MEMORY = cortexSchema.parse({}).memory;

test.each([
  `| one file of the workspace | the first ${number(MAX_IDENTITY_FILE_LENGTH)} characters |`,
  `| the system prompt | ${SYSTEM_SHARE * 100} % of the window, at most ${number(MAX_SYSTEM_TOKENS)} tokens |`,
  `| the list of skills | ${SKILLS_SHARE * 100} % of that |`,
  `| memory | \`memory.tokens\` (${number(MEMORY.tokens)}), at most ${MEMORY_SHARE * 100} % of the window and ${number(MAX_MEMORY_TOKENS)} tokens |`,
  `| one event or turn in memory | ${MAX_HIT_LENGTH} characters |`,
  `| attachments | ${MAX_ATTACHMENT_LINES} lines of ${MAX_ATTACHMENT_LINE_LENGTH} characters |`,
  `| ${FULL_SHARE * 100} % of the window`,
  `a line of at most ${MAX_ENVELOPE_LENGTH} characters with its time`,
  `1 to ${MAX_SKILL_NAME_LENGTH} lowercase`,
  `1 to ${MAX_DESCRIPTION_LENGTH} characters`,
  `at most ${MAX_COMPATIBILITY_LENGTH} characters`,
  `at most ${MAX_FRONTMATTER_LENGTH / 1024} KiB`,
])("the page on context says: %s", (claim) => {
  expect(text).toContain(claim);
});
