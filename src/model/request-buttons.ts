/**
 * The buttons below the message by which a place is told of a request. What a press brings back names the request and the
 * decision. It proves nothing: who presses, and where, decides what it may do.
 */
import type { Button } from "./extras.ts";
import type { ApprovalId } from "./ids.ts";
import { reveal } from "./reveal.ts";
import type { Request } from "./request.ts";
import { truncate } from "./truncate.ts";

export type Press = { readonly request: ApprovalId } & (
  | { readonly kind: "approve" | "deny" }
  /** Counted from 0. */
  | { readonly kind: "option"; readonly option: number }
);

/** What buttons of platforms have room for. The text of the message has the whole option. */
const MAX_LABEL_LENGTH = 40;

/** Empty: it is answered by text. */
export function requestButtons(id: ApprovalId, { question, options = [] }: Request): Button[] {
  if (question === undefined)
    return [
      { label: "Approve", data: `approve:${id}` },
      { label: "Deny", data: `deny:${id}` },
    ];
  return options.map((option, at) => ({
    label: truncate(reveal(option), MAX_LABEL_LENGTH),
    data: `option:${id}:${at}`,
  }));
}

/** Undefined: a button of something else. */
export function parsePress(data: string): Press | undefined {
  const [, kind, id, option] =
    /^(?:(approve|deny)|option):([0-9A-HJKMNP-TV-Z]{26})(?::(\d{1,3}))?$/.exec(data) ?? [];
  if (id === undefined) return undefined;
  const request = id as ApprovalId;
  if (kind === undefined)
    return option === undefined ? undefined : { kind: "option", request, option: Number(option) };
  return option === undefined ? { kind: kind as "approve" | "deny", request } : undefined;
}
