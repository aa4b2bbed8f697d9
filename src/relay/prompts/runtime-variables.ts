/** `{{name}}` and `{{#if name}}…{{/if}}`: the parts of a prompt that are filled in when a step begins. */

export const RUNTIME_VARIABLES = [
  "input",
  "userMessage",
  "artifactPath",
  "previousOutput",
  "modifiedFiles",
  "modifiedFilesWithDiff",
  "currentDateTime",
] as const;

/** The variables available in directives and system prompts, where every other `{{name}}` is plain text. */
export const SYSTEM_VARIABLES = ["artifactPath", "currentDateTime"] as const;

type RuntimeVariable = (typeof RUNTIME_VARIABLES)[number];
export type RuntimeValues = Readonly<Record<RuntimeVariable, string>>;
type SystemValues = Readonly<Record<(typeof SYSTEM_VARIABLES)[number], string>>;

/** No variable has a dot or a dash in its name; such a name is matched to report it as unknown. */
const PLACEHOLDER = /\{\{\s*(?:(#if)\s+([\w.-]+)|(\/if)|([\w.-]+))\s*\}\}/g;

interface UnknownPlaceholder {
  readonly name: string;
  readonly line: number;
}

/** Unknown variables, and unbalanced conditions. */
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
    if (condition !== undefined) open.push({ name: `#if ${asked ?? ""}`, line });
    if (end !== undefined && open.pop() === undefined) unknown.push({ name: "/if", line });
  }
  return [...unknown, ...open];
}

/** The runtime variables in a text where only system variables are replaced. */
export function findNotReplaced(text: string): string[] {
  const names = Array.from(text.matchAll(PLACEHOLDER), ([, , asked, , put]) => asked ?? put ?? "");
  return [...new Set(names.filter((name) => isRuntimeVariable(name) && !isSystemVariable(name)))];
}

/** Whether a text uses a variable, as a value or as a condition. */
export function usesVariable(text: string, variable: RuntimeVariable): boolean {
  return Array.from(text.matchAll(PLACEHOLDER)).some(([, , asked, , put]) => (asked ?? put) === variable);
}

/**
 * Keeps the body of a condition if its variable is not empty. Values are not expanded again. Unknown names stay as they
 * are: files are checked when they are read, and in a text from a script, `{{x}}` may be meant for another program.
 */
export function fillVariables(text: string, values: RuntimeValues): string {
  const pieces: string[] = [];
  /** For each open condition, whether its body stays. Null: its name is unknown. */
  const open: (boolean | null)[] = [];
  /** How many open conditions drop their bodies. */
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
  return RUNTIME_VARIABLES.some((known) => known === name);
}

function isSystemVariable(name: string): name is keyof SystemValues {
  return SYSTEM_VARIABLES.some((known) => known === name);
}
