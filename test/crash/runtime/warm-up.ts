import { temporaryFolder } from "../../support/temporary.ts";
import type { Model } from "./model.ts";
import { makeHome, startServed } from "./served.ts";

/** A server that a planted bug keeps from answering is left alone after this long. */
const PATIENCE_MS = 20_000;
const NOWHERE = "http://127.0.0.1:1";

/** Lets a server work and end in peace. */
export async function warmUp(source: string, model: Model): Promise<void> {
  using home = temporaryFolder();
  makeHome(home.path, { model: model.url, inbox: NOWHERE });
  const served = startServed(source, home.path, undefined);
  const up = await served.up;
  if (up !== undefined) {
    await fetch(`${up.url}/api/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${up.token}`, "content-type": "application/json" },
      body: JSON.stringify({ content: "MESSAGE warm", wait: true }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => {}); // What is wrong with it, the harness will find out.
  }
  served.signal("SIGTERM");
  await served.ended;
}
