/** `{{name}}` and `{{#if name}}…{{/if}}`: what is put into a prompt at the moment when a step is asked for. */

export const RUNTIME_VARIABLES = [
  "input",
  "userMessage",
  "artifactPath",
  "previousOutput",
  "modifiedFiles",
  "modifiedFilesWithDiff",
  "currentDateTime",
] as const;

/** Those that directives and system prompts know; every other `{{name}}` there is a text like any other. */
export const SYSTEM_VARIABLES = ["artifactPath", "currentDateTime"] as const;

type RuntimeVariable = (typeof RUNTIME_VARIABLES)[number];
export type RuntimeValues = Readonly<Record<RuntimeVariable, string>>;
export type SystemValues = Readonly<Record<(typeof SYSTEM_VARIABLES)[number], string>>;

/** No variable has a dot or a dash in its name, but who writes one means a variable, and is told that there is none. */
const PLACEHOLDER = /\{\{\s*(?:(#if)\s+([\w.-]+)|(\/if)|([\w.-]+))\s*\}\}/g;

export interface UnknownPlaceholder {
  readonly name: string;
  readonly line: number;
}

/** The names that are no runtime variables, and conditions that do not end or begin. */
export function findUnknown(text: string): UnknownPlaceholder[] {
  const unknown: UnknownPlaceholder[] = [];
  const open: UnknownPlaceholder[] = [];
  let line = 1;
  let counted = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [, condition, asked, end, put] = match;
    const name = asked ?? put;
    line += text.slice(counted, match.index).split("\n").length - 1;
    counted = match.index;
    if (name !== undefined && !isRuntimeVariable(name)) unknown.push({ name, line });
    if (condition !== undefined) open.push({ name: `#if ${asked!}`, line });
    if (end !== undefined && open.pop() === undefined) unknown.push({ name: "/if", line });
  }
  return [...unknown, ...open];
}

/** What is named in a text that knows only the system variables, and would stay there as it is. */
export function findNotReplaced(text: string): string[] {
  const names = Array.from(text.matchAll(PLACEHOLDER), ([, , asked, , put]) => asked ?? put ?? "");
  return [...new Set(names.filter((name) => isRuntimeVariable(name) && !isSystemVariable(name)))];
}

/** Whether a text names a variable, as a value or as a condition. */
export function names(text: string, variable: RuntimeVariable): boolean {
  return Array.from(text.matchAll(PLACEHOLDER)).some(([, , asked, , put]) => (asked ?? put) === variable);
}

/**
 * What a condition encloses stays where its variable has a value. What a value holds is not looked at again. What is no
 * variable stays as it is: files are checked when they are read, and in a text that a script made up, `{{x}}` may mean
 * something to somebody else.
 */
export function fillVariables(text: string, values: RuntimeValues): string {
  const pieces: string[] = [];
  /** For each open condition, whether what it encloses stays; null: it is none of ours. */
  const open: (boolean | null)[] = [];
  /** How many of them drop it. */
  let dropping = 0;
  let done = 0;
  const keep = (piece: string): void => {
    if (dropping === 0) pieces.push(piece);
  };
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, condition, asked, end, put] = match;
    keep(text.slice(done, match.index));
    done = match.index + whole.length;
    const value = valueOf(asked ?? put, values);
    if (condition !== undefined) {
      if (value === undefined) keep(whole);
      open.push(value === undefined ? null : value !== "");
      if (value === "") dropping++;
    } else if (end === undefined) keep(value ?? whole);
    else {
      const stays = open.pop() ?? null;
      if (stays === false) dropping--;
      if (stays === null) keep(whole);
    }
  }
  keep(text.slice(done));
  return pieces.join("");
}

export function fillSystemVariables(text: string, values: SystemValues): string {
  return text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) =>
    isSystemVariable(name) ? values[name] : whole,
  );
}

function valueOf(name: string | undefined, values: RuntimeValues): string | undefined {
  return name !== undefined && isRuntimeVariable(name) ? values[name] : undefined;
}

function isRuntimeVariable(name: string): name is RuntimeVariable {
  return (RUNTIME_VARIABLES as readonly string[]).includes(name);
}

function isSystemVariable(name: string): name is keyof SystemValues {
  return (SYSTEM_VARIABLES as readonly string[]).includes(name);
}
