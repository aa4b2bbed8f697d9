/**
 * What a task asks for, so that it is known again however its file was saved: line ends, byte order marks, trailing
 * spaces, empty lines, and all that is written into a task while it is worked on, count for nothing.
 */
import { createHash } from "node:crypto";

import type { Task } from "./task.ts";

type Asked = Pick<Task, "title" | "body" | "template" | "external">;

export function gistOf({ title, body, template, external }: Asked): string {
  const asked = [plain(title), plainLines(withoutProgress(body)), template ?? "", external ?? ""];
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 16);
}

/** Whether two texts say the same, line for line. */
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

/** A heading may be closed by hashes as it is opened. */
function plain(title: string): string {
  return title.replaceAll(/\s+/g, " ").trim().replace(/ #+$/, "");
}

/** The line `Progress: …`, and the section of that name. */
function withoutProgress(body: string): string {
  const kept: string[] = [];
  let isProgress = false;
  for (const line of body.split(/\r\n?|\n/)) {
    if (/^#{1,3}\s/.test(line)) isProgress = /^### Progress\s*$/.test(line);
    if (!isProgress && !line.startsWith("Progress:")) kept.push(line);
  }
  return kept.join("\n");
}
