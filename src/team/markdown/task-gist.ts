/**
 * A digest of what a task asks for, which recognizes the task however its file was saved: line ends, byte order marks,
 * trailing spaces, blank lines, and everything written into a task during work are ignored.
 */
import { hash } from "node:crypto";

import type { Task } from "./task.ts";

type Request = Pick<Task, "title" | "body" | "template" | "external">;

export function gistOf({ title, body, template, external }: Request): string {
  const request = [plain(title), plainLines(withoutProgress(body)), template ?? "", external ?? ""];
  return hash("sha256", JSON.stringify(request)).slice(0, 16);
}

/** Whether two texts have the same lines, up to whitespace at their ends and blank lines. */
export function saysSame(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return plainLines(one) === plainLines(other);
}

function plainLines(text: string): string {
  return text
    .replaceAll("\uFEFF", "")
    .split(/\r\n?|\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");
}

/** A heading may end in hashes too. */
function plain(title: string): string {
  return title.replaceAll(/\s+/g, " ").trim().replace(/ #+$/, "");
}

/** Drops the line `Progress: …` and the section `### Progress`. */
function withoutProgress(body: string): string {
  const kept: string[] = [];
  let isProgress = false;
  for (const line of body.split(/\r\n?|\n/)) {
    if (/^#{1,3}\s/.test(line)) isProgress = /^### Progress\s*$/.test(line);
    if (!isProgress && !line.startsWith("Progress:")) kept.push(line);
  }
  return kept.join("\n");
}
