/** The templates of a team, and notes made from them. */
import { CortexError } from "../../model/errors.ts";
import type { NoteEdit } from "../markdown/edit.ts";
import { applyNoteEdit } from "../markdown/edit-note.ts";
import type { TeamFolder } from "../files/team-folder.ts";

export const AGENT_TEMPLATE_PATH = "templates/agent-template.md";
export const PROJECT_TEMPLATE_PATH = "templates/project-template.md";
export const MAX_TEMPLATE_LINE_LENGTH = 1_000;

/** From the team protocol. */
export const TEMPLATES = {
  [AGENT_TEMPLATE_PATH]: `---
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
`,
  [PROJECT_TEMPLATE_PATH]: `---
type: project
created: YYYY-MM-DD
status: active
---
## Next Action

## Notes
`,
};

interface Filling {
  readonly fields: Readonly<Record<string, string>>;
  /** Lines by the heading they go below. */
  readonly sections: Readonly<Record<string, readonly string[]>>;
}

/** The team's own template, which people may change; else the protocol's. */
export async function readTemplate(folder: TeamFolder, path: keyof typeof TEMPLATES): Promise<string> {
  const text = await folder.read(path);
  return text === undefined || text.trim() === "" ? TEMPLATES[path] : text;
}

/** A note made from a template; everything else in the template stays. */
export function fillTemplate(template: string, { fields, sections }: Filling): string {
  let text = template;
  for (const [name, value] of Object.entries(fields)) {
    const edit: NoteEdit = { kind: "field", name, value };
    text = applyNoteEdit(text, edit);
  }
  for (const [heading, lines] of Object.entries(sections)) text = addBelow(text, heading, lines);
  return text;
}

/** Text as one line of a note. Throws `request_invalid` if it is empty or too long. */
export function templateLine(
  what: string,
  text: string,
  maxLength: number = MAX_TEMPLATE_LINE_LENGTH,
): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (line !== "" && line.length <= maxLength) return line;
  const message =
    line === ""
      ? `The ${what} is empty`
      : `The ${what} has ${line.length} characters; the limit is ${maxLength}`;
  throw new CortexError("request_invalid", message, { hint: "Shorten it to one line." });
}

/** Inserts at the top of the section, because its first line is what is read. A missing section is added at the end. */
function addBelow(text: string, heading: string, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const added = lines.map((line) => line + lineEnd).join("");
  const found = new RegExp(String.raw`^## ${heading}[ \t]*(?:\r?\n|$)`, "m").exec(text);
  if (found === null) return `${withLineEnd(text, lineEnd)}${lineEnd}## ${heading}${lineEnd}${added}`;
  const end = found.index + found[0].length;
  return withLineEnd(text.slice(0, end), lineEnd) + added + text.slice(end);
}

function withLineEnd(text: string, lineEnd: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineEnd;
}
