/** Whether the server could listen where it is to. Asked where none runs: listening there for a moment tells. */
import { once } from "node:events";
import { createServer } from "node:net";

import { codeOf } from "../model/error-code.ts";
import { type Check, ok, refusal } from "../feature/check.ts";

export async function checkPort({ host, port }: { host: string; port: number }): Promise<Check> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const server = createServer();
  try {
    const listening = once(server, "listening");
    server.listen({ host, port, exclusive: true });
    await listening;
    server.close();
    return ok("port", port === 0 ? "any that is free" : `${address} is free`);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EADDRINUSE")
      return refusal(
        "port",
        `Another process listens on ${address}`,
        "Stop it, or set `server.port` in cortex.json.",
      );
    return refusal(
      "port",
      `Nothing can listen on ${address} (${code})`,
      "Check `server.host` and `server.port` in cortex.json.",
    );
  }
}
