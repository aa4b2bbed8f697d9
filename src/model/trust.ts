/**
 * Labels: what a piece of data, or a whole conversation, has come into contact with. Reading data inherits its label, so
 * labels only grow along the way (they form a lattice; `joinLabels` is its join). Only a person clears one.
 *
 * The rule of two is judged on them. Untrusted text in a conversation, private data in it, and effects outside of it: any
 * two of the three are fine. With all three, the author of the text can have the data sent anywhere. So an outward call
 * asks a person first if text by one principal meets data that is private to another.
 */
import type { Json } from "./json.ts";
import { OWNER_PRINCIPAL } from "./principal.ts";

export const MARKS = ["untrusted", "private", "outward"] as const;
export type Mark = (typeof MARKS)[number];

/** Names in order, each once: principals, rooms and tools. */
export type Names = readonly string[];

export type Label = {
  /** Whose words it holds: everyone who is not the owner, and tools that bring text of strangers. */
  readonly untrusted: Names;
  /** To whom it is private: it may be told to nobody else, except the owner. */
  readonly private: Names;
  /** Patterns of tools that one of its authors may not use. `!Read,Grep`: all but these. */
  readonly denied: Names;
};

/** The label of a session, and whether it has had effects outside. */
export interface Trust extends Label {
  readonly outward: boolean;
}

export const NO_LABEL: Label = { untrusted: [], private: [], denied: [] };
export const NO_TRUST: Trust = { ...NO_LABEL, outward: false };

/** Of the data of the owner: their files, and what was said to them. */
export const OWNERS: Label = { ...NO_LABEL, private: [OWNER_PRINCIPAL] };

export const LABEL_SETS = ["untrusted", "private", "denied"] as const;
type LabelSet = (typeof LABEL_SETS)[number];

/** More names than this are counted as one, so that a label stays small in a crowded room. */
const MAX_NAMES = 64;
/** That one name. It forbids at least what those that it counts forbid. */
const CROWD: Readonly<Record<LabelSet, string>> = {
  untrusted: "others",
  private: "others",
  denied: "*",
};
/** Stored before labels had names. */
const UNNAMED: Readonly<Record<LabelSet, string>> = {
  untrusted: "unknown",
  private: OWNER_PRINCIPAL,
  denied: "*",
};

export function joinLabels(...labels: readonly Label[]): Label {
  const [only, ...others] = labels;
  if (only !== undefined && others.length === 0) return only;
  return {
    untrusted: joinNames("untrusted", labels),
    private: joinNames("private", labels),
    denied: joinNames("denied", labels),
  };
}

export function joinTrust(...trusts: readonly Trust[]): Trust {
  return { ...joinLabels(...trusts), outward: trusts.some(({ outward }) => outward) };
}

function joinNames(set: LabelSet, labels: readonly Label[]): Names {
  const all = labels.flatMap((label) => label[set]);
  if (all.length === 0) return all;
  const names = [...new Set(all)].toSorted();
  if (names.length <= MAX_NAMES) return names;
  // The owner's name is never counted among the others: rules depend on it.
  const crowd = CROWD[set];
  const kept = names.filter((name) => name === OWNER_PRINCIPAL || name === crowd);
  const rest = names.filter((name) => !kept.includes(name));
  return [...new Set([...kept, crowd, ...rest.slice(0, MAX_NAMES - kept.length - 1)])].toSorted();
}

export function isUnlabelled({ untrusted, private: readers, denied }: Label): boolean {
  return untrusted.length + readers.length + denied.length === 0;
}

/** Whether everything in one label is in the other. */
export function isWithin(label: Label, other: Label): boolean {
  return LABEL_SETS.every((set) => label[set].every((name) => other[set].includes(name)));
}

/** Whether data with this label may be told to an audience, by the name of a principal or a room. */
export function mayTell(label: Label, audience: string): boolean {
  return audience === OWNER_PRINCIPAL || label.private.every((name) => name === audience);
}

/** What a call of a tool brings into a session, or out of it, at most: a result can say it more exactly. */
export type ToolTrust = Readonly<Partial<Record<Mark, true>>>;

/** Of a tool that does not say: the worst. */
export const UNDECLARED: ToolTrust = { untrusted: true, private: true, outward: true };

/** What the owner's programs say about a call: they may quote whatever they have read. */
export const HOOK_WORDS: ToolTrust = { untrusted: true, private: true };

/** The label that a tool's declaration stands for. */
export function declared(tool: string, trust: ToolTrust): Trust {
  return {
    untrusted: trust.untrusted === true ? [`tool:${tool}`] : [],
    private: trust.private === true ? [OWNER_PRINCIPAL] : [],
    denied: [],
    outward: trust.outward === true,
  };
}

/**
 * Whether a person must agree to a call before it is made. One call may both fetch what is private and send it; what
 * it brings of others' words comes too late to have a say in it.
 */
export function needsConsent({ untrusted, private: readers }: Label, tool: ToolTrust): boolean {
  if (tool.outward !== true) return false;
  const all = tool.private === true ? [...readers, OWNER_PRINCIPAL] : readers;
  return untrusted.some((author) => all.some((reader) => reader !== author));
}

/** Whether an author of text in the session may not use this tool. */
export function isDeniedToAuthor({ denied }: Label, allows: (pattern: string) => boolean): boolean {
  return denied.some((entry) =>
    entry.startsWith("!") ? !entry.slice(1).split(",").some(allows) : allows(entry),
  );
}

/** What one has and the other has not. Undefined: nothing. */
export function addedTrust(known: Trust, brought: Trust): Trust | undefined {
  const missing = (set: LabelSet): Names =>
    known[set].includes(CROWD[set]) ? [] : brought[set].filter((name) => !known[set].includes(name));
  const added = {
    untrusted: missing("untrusted"),
    private: brought.private.filter((name) => !known.private.includes(name)),
    denied: missing("denied"),
    outward: brought.outward && !known.outward,
  };
  if (isUnlabelled(added) && !added.outward) return undefined;
  const limited = (set: LabelSet): Names =>
    known[set].length + added[set].length > MAX_NAMES && set !== "private" ? [CROWD[set]] : added[set];
  return { ...added, untrusted: limited("untrusted"), denied: limited("denied") };
}

/** Where the settings of a session hold it. */
export const TRUST_SETTING = "trust";

export function readTrust(settings: Readonly<Record<string, Json>>): Trust {
  return parseTrust(settings[TRUST_SETTING]);
}

/** As stored: a set is an object, so that settings are merged name by name. */
export function parseTrust(stored: Json | undefined): Trust {
  const fields = (stored ?? {}) as Readonly<Record<string, Json | undefined>>;
  const names = (set: LabelSet): Names => {
    const value = fields[set];
    if (value === true) return [UNNAMED[set]];
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return Object.entries(value)
      .filter(([, isIn]) => isIn === true)
      .map(([name]) => name)
      .toSorted();
  };
  return {
    untrusted: names("untrusted"),
    private: names("private"),
    denied: names("denied"),
    outward: fields["outward"] === true,
  };
}

export function trustJson({ outward, ...label }: Trust): Record<string, Json> {
  return { ...labelJson(label), ...(outward ? { outward } : {}) };
}

export function labelJson(label: Label): Record<string, Json> {
  const sets = LABEL_SETS.filter((set) => label[set].length > 0).map((set): [string, Json] => [
    set,
    Object.fromEntries(label[set].map((name) => [name, true])),
  ]);
  return Object.fromEntries(sets);
}

/** The three marks, as yes and no. */
export function marksOf({ untrusted, private: readers, outward }: Trust): Readonly<Record<Mark, boolean>> {
  return { untrusted: untrusted.length > 0, private: readers.length > 0, outward };
}
