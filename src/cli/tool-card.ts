/** A tool call as a chat shows it: outcome, arguments, duration and result. */
import type { Json } from "../model/json.ts";
import type { Line } from "../terminal/spans.ts";
import { count, duration, harmless, shorten } from "../terminal/text.ts";

export interface CallSummary {
  readonly name: string;
  readonly args: string;
}

interface ToolEnd {
  /** `ok`, or the error. */
  readonly status: string;
  readonly durationMs: number | undefined;
  readonly result: string;
}

const MAX_ARGUMENTS_LENGTH = 120;
/** Longer results are truncated. */
const MAX_RESULT_LINES = 3;
const MAX_RESULT_LINE_LENGTH = 200;

export function toolCard({ name, args }: CallSummary, { status, durationMs, result }: ToolEnd): Line[] {
  const isOk = status === "ok";
  const facts = [isOk ? "" : status, durationMs === undefined ? "" : duration(durationMs)];
  const after = facts.filter((fact) => fact !== "").map((fact) => ` · ${fact}`);
  return [
    {
      spans: [
        isOk ? { text: "✓ ", format: "green" } : { text: "✗ ", format: "red" },
        { text: name, format: "bold" },
        { text: `${args === "" ? "" : ` ${args}`}${after.join("")}`, format: "dim" },
      ],
      next: [{ text: "  " }],
    },
    ...resultLines(result),
  ];
}

/** `path: a.md, limit: 20`; a single string is shown without its name. */
export function describeArguments(args: Json | undefined): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return shortened(args ?? "");
  const entries = Object.entries(args);
  const [[, only] = []] = entries;
  if (entries.length === 1 && typeof only === "string") return shortened(only);
  return shortened(entries.map(([name, value]) => `${name}: ${valueText(value)}`).join(", "));
}

function resultLines(result: string): Line[] {
  const lines = harmless(result)
    .split("\n")
    .map((line) => line.replaceAll("\t", "  ").trimEnd())
    .filter((line) => line !== "");
  const shown = lines.slice(0, MAX_RESULT_LINES).map((line) => shorten(line, MAX_RESULT_LINE_LENGTH));
  const left = lines.length - shown.length;
  const more = left === 0 ? [] : [`… ${count(left, "more line")}`];
  const edge = [{ text: "  │ ", format: "dim" as const }];
  return [...shown, ...more].map((text) => ({ first: edge, next: edge, spans: [{ text, format: "dim" }] }));
}

function valueText(value: Json | undefined): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function shortened(value: Json): string {
  return shorten(harmless(valueText(value)).replaceAll(/\s+/g, " ").trim(), MAX_ARGUMENTS_LENGTH);
}
