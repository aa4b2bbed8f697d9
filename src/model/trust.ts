/**
 * The rule of two. Untrusted text in a conversation, private data in it, and effects outside of it: any two of
 * the three are fine; with all three, whoever wrote the text can have the data sent anywhere. So a session keeps
 * what it has come into contact with, and an outward call in one that knows both asks a person first.
 *
 * Only a person takes a mark away.
 */
import type { Json } from "./json.ts";

export const MARKS = ["untrusted", "private", "outward"] as const;
export type Mark = (typeof MARKS)[number];

/** What a session has come into contact with. */
export type Trust = Readonly<Record<Mark, boolean>>;

/** What a call of a tool brings into a session, or out of it. */
export type ToolTrust = Readonly<Partial<Record<Mark, true>>>;

/** Of a tool that does not say: the worst. */
export const UNDECLARED: ToolTrust = { untrusted: true, private: true, outward: true };

/** What the owner's programs say about a call: they may quote whatever they have read. */
export const HOOK_WORDS: ToolTrust = { untrusted: true, private: true };

/** Where the settings of a session hold it. */
export const TRUST_SETTING = "trust";

export function readTrust(settings: Readonly<Record<string, Json>>): Trust {
  const stored = settings[TRUST_SETTING] as Partial<Record<Mark, unknown>> | null | undefined;
  return {
    untrusted: stored?.untrusted === true,
    private: stored?.private === true,
    outward: stored?.outward === true,
  };
}

/**
 * Whether a person must agree to a call before it is made. One call may both fetch what is private and send it; what
 * it brings of others' words comes too late to have a say in it.
 */
export function needsConsent(trust: Trust, tool: ToolTrust): boolean {
  return tool.outward === true && trust.untrusted && (trust.private || tool.private === true);
}

/** The marks that a call adds. */
export function addedMarks(trust: Trust, tool: ToolTrust): Mark[] {
  return MARKS.filter((mark) => tool[mark] === true && !trust[mark]);
}
