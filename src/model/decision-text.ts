/** What became of a request, as places are told of it. */
import { reveal } from "./reveal.ts";
import { truncate } from "./truncate.ts";

export interface Decided {
  readonly state: "approved" | "denied" | "answered" | "expired" | "void";
  /** The name of who decided. */
  readonly by?: string | undefined;
  /** A reason or an answer. */
  readonly said?: string | undefined;
  /** Void, because the same call was asked about again. */
  readonly isAskedAgain?: boolean;
}

const MAX_SAID_LENGTH = 200;

export function describeDecision({ state, by = "someone", said, isAskedAgain = false }: Decided): string {
  const what = said === undefined || said === "" ? "" : `: ${plain(truncate(said, MAX_SAID_LENGTH))}`;
  switch (state) {
    case "approved":
      return `✅ Approved by ${plain(by)}`;
    case "denied":
      return `❌ Denied by ${plain(by)}${what}`;
    case "answered":
      return `✅ Answered by ${plain(by)}${what}`;
    case "expired":
      return "⌛ Expired: nobody decided in time";
    case "void":
      return isAskedAgain ? "🔁 No longer valid: it was asked again" : "⏹️ No longer needed";
  }
}

/**
 * The message by which a place was told of a request, once that is decided: its last line, which says how to decide, is
 * replaced. Of a message that was split, only the last part can change, so that one is told in short.
 */
export function decidedNotice(
  notice: string,
  decided: Decided,
  { isSplit }: { readonly isSplit: boolean },
): string {
  const lines = notice.split("\n");
  const shown = isSplit ? lines.slice(0, 1) : lines.slice(0, -1);
  return [...shown, describeDecision(decided)].join("\n");
}

/** On one line, and with nothing that is taken for formatting or for a link. */
function plain(text: string): string {
  return reveal(text).replaceAll(/[\\`*_~[\]<>|]/g, "");
}
