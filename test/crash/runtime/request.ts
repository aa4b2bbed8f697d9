import type { Door } from "./door.ts";
import type { Address } from "./served.ts";

export interface Reply {
  readonly status: number;
  readonly json: {
    readonly eventId?: string;
    readonly session?: string;
    readonly turnId?: string;
    readonly text?: string;
    readonly aborted?: { readonly by: string | null };
    readonly items?: readonly { readonly id: string }[];
    readonly error?: { readonly code: string };
  };
}

/** Repeats a request until a server answers it. Undefined: the senders are to go home. */
export async function request(
  door: Door,
  path: string,
  write: (address: Address) => RequestInit,
): Promise<Reply | undefined> {
  for (let address = await door.find(); address !== undefined; address = await door.find(address)) {
    try {
      const response = await fetch(address.url + path, write(address));
      // Unavailable: it is about to stop. Unauthorized: it is gone, and its port is another server's by now.
      if (response.status !== 503 && response.status !== 401)
        return { status: response.status, json: (await response.json()) as Reply["json"] };
    } catch {
      // It is gone.
    }
  }
  return undefined;
}
