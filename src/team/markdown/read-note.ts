/** Reads the notes of members and projects. Missing or odd parts never keep the rest from being read. */
import { type NoteFrontmatter, readNoteFrontmatter } from "./note-frontmatter.ts";
import { findSection, itemsOf, latestOf, logEntries, type NoteSection, sectionsOf } from "./note-sections.ts";

interface Note extends Pick<NoteFrontmatter, "fields" | "problems"> {
  readonly sections: readonly NoteSection[];
}

export interface MemberNote extends Note {
  /** Empty if the note has none. */
  readonly name: string;
  /** As written: it may begin with `~`. */
  readonly project: string | undefined;
  /** Active by default; any other value counts as inactive and is reported. */
  readonly status: "active" | "inactive";
  readonly runtime: string | undefined;
  readonly joined: string | undefined;
  /** The first line of `## Role`; may be empty. */
  readonly role: string;
  /** Slugs of project notes. */
  readonly projects: readonly string[];
  readonly capabilities: readonly string[];
  /** The latest entry of `## Session Log`. */
  readonly log: { readonly last: string | undefined; readonly status: string | undefined };
}

export interface ProjectNote extends Note {
  readonly type: string | undefined;
  readonly created: string | undefined;
  readonly status: string | undefined;
  /** Of `## Next Action`. */
  readonly nextActions: readonly string[];
  /** Of `## Notes`. */
  readonly notes: readonly string[];
}

export function readNote(text: string): MemberNote {
  const { fields, lines, bodyStart, problems } = readNoteFrontmatter(text);
  const sections = sectionsOf(text, bodyStart);
  const field = fieldOf(fields);
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
      "Start it with ---, name: and project:, ---.",
    );
  else if (lines !== undefined && field("name") === undefined)
    add("name", "name-missing", "the note has no name", "Add name: to the frontmatter.");
  if (status !== "active" && status !== "inactive")
    add(
      "status",
      "member-status-unknown",
      `unknown member status ${JSON.stringify(status)}; it counts as inactive`,
      "Use active or inactive.",
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

export function readProject(text: string): ProjectNote {
  const { fields, bodyStart, problems } = readNoteFrontmatter(text);
  const sections = sectionsOf(text, bodyStart);
  const field = fieldOf(fields);
  return {
    type: field("type"),
    created: field("created"),
    status: field("status"),
    nextActions: itemsOf(findSection(sections, "Next Action") ?? findSection(sections, "Next Actions")),
    notes: itemsOf(findSection(sections, "Notes")),
    fields,
    sections,
    problems,
  };
}

function fieldOf(fields: Note["fields"]): (name: string) => string | undefined {
  return (name) => fields.get(name)?.trim() || undefined;
}

/** `billing-service — primary project`, `[[billing-service]]`. */
function slugIn(item: string): string[] {
  const slug = /^(?:\[\[)?([\w./-]+)/.exec(item)?.[1]?.replace(/\.md$/, "").split("/").at(-1);
  return slug === undefined || slug === "" || /^-+$/.test(slug) ? [] : [slug];
}
