import type { OutgoingFile } from "../../model/extras.ts";

/** One request, as it is stored: the address, and the message that it answers, are added when it is sent. */
export interface Wire {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly file?: OutgoingFile & { readonly field: string };
}

export function readWire(text: string): Wire {
  return JSON.parse(text) as Wire;
}
