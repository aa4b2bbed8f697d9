/** Reads the note of a member. What is missing or odd never keeps the rest from being read. */
import { readFrontmatter } from "./frontmatter.ts";
import { findSection, itemsOf, type NoteSection, sectionsOf } from "./note-sections.ts";
import { latestOf, logEntries } from "./session-log.ts";
import type { FileProblem } from "./task.ts";

export interface MemberNote {
  /** Empty: the note has none. */
  readonly name: string;
  /** As written: it may begin with `~`. */
  readonly project: string | undefined;
  /** What is neither of the two is taken for inactive, and reported; a note without it is active. */
  readonly status: "active" | "inactive";
  readonly runtime: string | undefined;
  readonly joined: string | undefined;
  /** The first line of `## Role`; empty where there is none. */
  readonly role: string;
  /** Slugs of project notes. */
  readonly projects: readonly string[];
  readonly capabilities: readonly string[];
  /** The latest entry of `## Session Log`. */
  readonly log: { readonly last: string | undefined; readonly status: string | undefined };
  readonly fields: ReadonlyMap<string, string>;
  readonly sections: readonly NoteSection[];
  readonly problems: readonly FileProblem[];
}

export function readNote(text: string): MemberNote {
  const { fields, lines, bodyStart, problems } = readFrontmatter(text);
  const sections = sectionsOf(text, bodyStart);
  const field = (name: string): string | undefined => fields.get(name)?.trim() || undefined;
  const status = field("status")?.toLowerCase() ?? "active";
  const found = [...problems];
  const add = (name: string, rule: string, message: string, hint: string): void => {
    const line = lines?.find(({ start }) => text.startsWith(`${name}:`, start))?.line ?? 1;
    found.push({ line, rule, message, hint });
  };
  if (lines === undefined && problems.length === 0)
    add(
      "",
      "frontmatter-missing",
      "the note has no frontmatter",
      "Begin it with ---, name: and project:, ---.",
    );
  else if (lines !== undefined && field("name") === undefined)
    add("name", "name-missing", "the note has no name", "Write name: in the frontmatter.");
  if (status !== "active" && status !== "inactive")
    add(
      "status",
      "member-status-unknown",
      `${JSON.stringify(status)} is no status of a member, so it is taken for inactive`,
      "Write active or inactive.",
    );
  return {
    name: field("name") ?? "",
    project: field("project"),
    status: status === "active" ? "active" : "inactive",
    runtime: field("runtime"),
    joined: field("joined"),
    role: findSection(sections, "Role")?.text.split(/\r?\n/, 1)[0]?.trim() ?? "",
    projects: itemsOf(findSection(sections, "Projects")).flatMap(slugIn),
    capabilities: itemsOf(findSection(sections, "Capabilities")),
    log: latestOf(logEntries(text, findSection(sections, "Session Log"))) ?? {
      last: undefined,
      status: undefined,
    },
    fields,
    sections,
    problems: found,
  };
}

/** `billing-service — primary project`, `[[billing-service]]`. */
function slugIn(item: string): string[] {
  const slug = /^(?:\[\[)?([\w./-]+)/.exec(item)?.[1]?.replace(/\.md$/, "").split("/").at(-1);
  return slug === undefined || slug === "" || /^-+$/.test(slug) ? [] : [slug];
}
