import assert from "node:assert/strict";
import type { z } from "zod";
import { nearest, suggest } from "../model/nearest.ts";
import { planned } from "./planned.ts";
import { type Mistake, type Path, quote } from "./problem.ts";
import { keysOf, schemaAt } from "./schema-tree.ts";

interface Validated<Output> {
  /** The value with all defaults, without its invalid parts. */
  readonly output: Output;
  /** The input without its invalid parts. */
  readonly kept: Record<string, unknown>;
  readonly mistakes: readonly Mistake[];
}

/**
 * Finds all mistakes in a value, and reads the rest of it. The schema must accept `{}`.
 *
 * The rest matters because most mistakes are independent: an agent with a misspelt role may also name an unknown
 * persona, and the user should see both at once.
 */
export function validate<Output>(schema: z.ZodType<Output>, value: unknown): Validated<Output> {
  const mistakes = findMistakes(schema, value);
  let rest = value;
  // Every round removes something: later rounds remove what depended on it.
  for (;;) {
    const { success, data, error } = schema.safeParse(rest);
    if (success) return { output: data, kept: rest as Record<string, unknown>, mistakes };
    assert(!isEmpty(rest), "the schema does not accept {}");
    rest = without(
      rest,
      error.issues.flatMap((issue) => culpritsOf(issue, rest)),
    );
  }
}

export function findMistakes(schema: z.ZodType, value: unknown): Mistake[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => mistakesOf(issue, schema, value));
}

/** No key of a JSON file is a symbol. */
function pathOf({ path }: z.core.$ZodIssue): Path {
  return path.filter((step) => typeof step !== "symbol");
}

function isEmpty(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && Object.keys(value).length === 0 && !Array.isArray(value)
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function mistakesOf(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): Mistake[] {
  const path = pathOf(issue);
  if (issue.code === "unrecognized_keys") {
    const holder = schemaAt(schema, path);
    const names = { known: keysOf(holder), later: plannedAt(holder) };
    return issue.keys.map((key) => ({
      path: [...path, key],
      at: "key",
      message: names.later.includes(key) ? NOT_AVAILABLE : "unknown key",
      hint: adviseOn(key, names),
    }));
  }
  const meant = issue.code === "invalid_union" ? formMeant(issue) : undefined;
  if (meant !== undefined) {
    return meant.flatMap((inner) => mistakesOf({ ...inner, path: [...path, ...inner.path] }, schema, value));
  }
  const found = valueAt(value, path);
  const isLater = typeof found === "string" && plannedAt(schemaAt(schema, path)).includes(found);
  const message = isLater ? `${quote(found)} is ${NOT_AVAILABLE}` : messageOf(issue, found);
  return [{ path, at: "value", message, hint: hintOf(issue, schema, found) }];
}

const NOT_AVAILABLE = "not available in this version";

function plannedAt(schema: z.ZodType | undefined): readonly string[] {
  return (schema && planned.get(schema)?.names) ?? [];
}

interface NamesHere {
  readonly known: readonly string[];
  readonly later: readonly string[];
}

/** A typing error may also mean a planned name. */
function adviseOn(word: string, { known, later }: NamesHere): string {
  if (later.includes(word)) return `Available: ${known.join(", ")}.`;
  const meant = nearest(word, [...known, ...later]);
  if (meant === undefined || known.includes(meant)) return suggest(word, known);
  return `Did you mean ${JSON.stringify(meant)}? It is ${NOT_AVAILABLE}; available: ${known.join(", ")}.`;
}

/** The issues of a union value, for the alternative that it was meant to be. */
function formMeant({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  return errors.find(
    (issues) => !issues.some((issue) => issue.code === "invalid_type" && issue.path.length === 0),
  );
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined) return "missing";
      return `expected ${KINDS[issue.expected] ?? issue.expected}, got ${quote(value)}`;
    case "invalid_value":
      if (value === undefined) return "missing";
      return `expected one of ${issue.values.join(", ")}, got ${quote(value)}`;
    case "too_small":
      if (typeof value === "string" || isEmptyList(value)) return "must not be empty";
      return `expected ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}, got ${quote(value)}`;
    case "too_big":
      if (Array.isArray(value)) return `more than ${issue.maximum} entries`;
      return `expected at most ${issue.maximum}, got ${quote(value)}`;
    case "invalid_union":
      if (value === undefined) return "missing";
      return `expected ${formsOf(issue).join(" or ")}, got ${quote(value)}`;
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
    case "unrecognized_keys":
      return issue.message;
  }
}

function formsOf({ errors }: z.core.$ZodIssueInvalidUnion): string[] {
  return errors.flatMap(([issue]) =>
    issue?.code === "invalid_type" ? [KINDS[issue.expected] ?? issue.expected] : [],
  );
}

const KINDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "an integer",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};

function hintOf(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): string {
  if (issue.code === "invalid_value" && typeof value === "string") {
    const later = plannedAt(schemaAt(schema, pathOf(issue)));
    return adviseOn(value, { known: issue.values.map(String), later });
  }
  if (issue.code === "custom" && typeof issue.params?.["hint"] === "string") return issue.params["hint"];
  return descriptionOf(schema, pathOf(issue));
}

/** The description of a list applies to its items. */
function descriptionOf(schema: z.ZodType, path: Path): string {
  const description = schemaAt(schema, path)?.description;
  if (description !== undefined) return description;
  return path.length === 0 ? "" : descriptionOf(schema, path.slice(0, -1));
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === "object" && current !== null && Object.hasOwn(current, step)
        ? Reflect.get(current, step)
        : undefined,
    value,
  );
}

/**
 * The paths to remove for an issue: unknown keys, or a value. A missing value cannot be removed, so its parent is; a
 * list with an invalid item is removed as a whole, because later items would move.
 */
function culpritsOf(issue: z.core.$ZodIssue, value: unknown): Path[] {
  const path = pathOf(issue);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key]);
  for (let length = path.length; length > 0; length--) {
    const culprit = path.slice(0, length);
    const isItem = Array.isArray(valueAt(value, culprit.slice(0, -1)));
    if (!isItem && valueAt(value, culprit) !== undefined) return [culprit];
  }
  return [[]];
}

function without(value: unknown, culprits: readonly Path[]): unknown {
  if (culprits.some((path) => path.length === 0)) return {};
  const rest = structuredClone(value);
  for (const path of culprits) {
    const holder = valueAt(rest, path.slice(0, -1));
    const key = path.at(-1);
    if (typeof holder === "object" && holder !== null && key !== undefined)
      Reflect.deleteProperty(holder, key);
  }
  return rest;
}
