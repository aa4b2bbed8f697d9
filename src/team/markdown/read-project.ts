/** Reads a project note. */
import { readFrontmatter } from "./frontmatter.ts";
import { findSection, itemsOf, type NoteSection, sectionsOf } from "./note-sections.ts";
import type { FileProblem } from "./task.ts";

export interface ProjectNote {
  readonly type: string | undefined;
  readonly created: string | undefined;
  readonly status: string | undefined;
  /** Of `## Next Action`. */
  readonly nextActions: readonly string[];
  /** Of `## Notes`. */
  readonly notes: readonly string[];
  readonly fields: ReadonlyMap<string, string>;
  readonly sections: readonly NoteSection[];
  readonly problems: readonly FileProblem[];
}

export function readProject(text: string): ProjectNote {
  const { fields, bodyStart, problems } = readFrontmatter(text);
  const sections = sectionsOf(text, bodyStart);
  const field = (name: string): string | undefined => fields.get(name)?.trim() || undefined;
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
