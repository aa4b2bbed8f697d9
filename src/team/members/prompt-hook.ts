/**
 * The entry in Claude Code's `.claude/settings.json` that runs a script before each prompt. It is inserted as one piece, so
 * that removing the piece restores the file byte for byte.
 */
import { findNodeAtLocation, type Node, type ParseError, parseTree } from "jsonc-parser";

const PATH = ["hooks", "UserPromptSubmit"] as const;

/** The content of a new file. */
export function newSettings(command: string): string {
  const value = { [PATH[0]]: { [PATH[1]]: [entryOf(command)] } };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The settings with the entry; unchanged if it is there. Undefined: the file is malformed. */
export function addPromptHook(text: string, command: string): string | undefined {
  const root = parse(text);
  if (root?.type !== "object") return undefined;
  if (placesOf(root, command).length > 0) return text;
  const hooks = findNodeAtLocation(root, [PATH[0]]);
  const prompts = findNodeAtLocation(root, [...PATH]);
  const entry = spaced(entryOf(command));
  if (prompts !== undefined) return prompts.type === "array" ? insertLast(text, prompts, entry) : undefined;
  const list = `"${PATH[1]}": [${entry}]`;
  if (hooks !== undefined) return hooks.type === "object" ? insertLast(text, hooks, list) : undefined;
  return insertLast(text, root, `"${PATH[0]}": { ${list} }`);
}

/** The settings without the entry, and without the lists that were made for it. */
export function removePromptHook(text: string, command: string): string {
  const root = parse(text);
  const [place] = root?.type === "object" ? placesOf(root, command) : [];
  if (root === undefined || place === undefined) return text;
  const around = [[PATH[0]], [...PATH]].map((path) => findNodeAtLocation(root, path)?.parent);
  const candidates = [...around, place].flatMap((node) => (node === undefined ? [] : [cut(text, node)]));
  // The right candidate is the one that adding the entry turns back into this text.
  const before = candidates.find((candidate) => addPromptHook(candidate, command) === text);
  return removePromptHook(before ?? cut(text, place), command); // the entry may be there twice
}

function parse(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  return errors.length === 0 ? root : undefined;
}

function entryOf(command: string): object {
  return { hooks: [{ type: "command", command }] };
}

/** The nodes to remove: entries with nothing but the command, and in other entries only its hook. */
function placesOf(root: Node, command: string): Node[] {
  const prompts = findNodeAtLocation(root, [...PATH]);
  if (prompts?.type !== "array") return [];
  return (prompts.children ?? []).flatMap((entry) => {
    const hooks = entry.type === "object" ? findNodeAtLocation(entry, ["hooks"]) : undefined;
    const all = hooks?.type === "array" ? (hooks.children ?? []) : [];
    const ours = all.filter((hook) => findNodeAtLocation(hook, ["command"])?.value === command);
    return ours.length > 0 && ours.length === all.length ? [entry] : ours;
  });
}

/** After the last child with the same indent; on the same line if there are no children. */
function insertLast(text: string, container: Node, inserted: string): string {
  const last = container.children?.at(-1);
  if (last === undefined) return splice(text, container.offset + 1, container.offset + 1, inserted);
  const end = last.offset + last.length;
  const before = text.slice(0, last.offset);
  const indent = before.slice(before.trimEnd().length);
  return splice(text, end, end, `,${indent}${inserted}`);
}

function cut(text: string, node: Node): string {
  const siblings = node.parent?.children ?? [];
  const index = siblings.indexOf(node);
  const end = node.offset + node.length;
  const previous = siblings[index - 1];
  if (previous !== undefined) return splice(text, previous.offset + previous.length, end, "");
  const next = siblings[index + 1];
  return splice(text, node.offset, next?.offset ?? end, "");
}

function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

function spaced(value: object): string {
  return JSON.stringify(value)
    .replaceAll(/([{,:])(?=["[{])/g, "$1 ")
    .replaceAll("}", " }");
}
