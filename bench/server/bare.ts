// The least that a server like Cortex must do between a POST and the model: read the message, write it down,
// wait for one sync, ask. `node bare.ts <file> <model port>`; over the same HTTP, on the same disk.

import { open } from "node:fs/promises";
import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const [path = "", modelPort = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
await using file = await open(path, "w");
const server = createServer((incoming, outgoing) => {
  answer(incoming).then(
    (reply) => outgoing.writeHead(200, { "content-type": "application/json" }).end(reply),
    (error: unknown) => outgoing.writeHead(500).end(String(error)),
  );
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
await new Promise((resolve) => process.once("SIGTERM", resolve));
server.closeAllConnections();
server.close();
agent.destroy();

async function answer(incoming: AsyncIterable<Buffer> & NodeJS.ReadableStream): Promise<string> {
  const body = await text(incoming);
  const { content } = JSON.parse(body) as { content: string };
  await file.write(body);
  await file.datasync();
  return ask(JSON.stringify({ model: "instant", stream: true, messages: [{ role: "user", content }] }));
}

function ask(question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: "127.0.0.1",
        port: modelPort,
        method: "POST",
        path: "/v1/chat/completions",
        agent,
        headers: { "content-type": "application/json" },
      },
      (response) => void text(response).then(resolve, reject),
    );
    request.on("error", reject);
    request.end(question);
  });
}
