// The model that Cortex asks while it is measured: a process of its own that answers at once, and notes when
// it was asked what. Until it is told to go it holds its answers, where the argument is `--held`.

import { startModelServer } from "../../test/support/model-server.ts";
import { sharedNowMs } from "./clock.ts";

export type ModelCommand = "go" | "take";
/** When a question came in, by the mark in its text. The first time counts. */
export type Asked = readonly (readonly [mark: string, atMs: number])[];
export type ModelNews = { readonly port: number } | { readonly asked: Asked };

/** What makes each question of a benchmark one of a kind. */
const MARK = /mark-\d+/;

const opened = Promise.withResolvers<void>();
if (!process.argv.includes("--held")) opened.resolve();
let asked = new Map<string, number>();
await using server = await startModelServer({
  async answer({ messages }) {
    const atMs = sharedNowMs();
    const mark = MARK.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0];
    if (mark !== undefined && !asked.has(mark)) asked.set(mark, atMs);
    await opened.promise;
    return { text: `Yes, ${mark}.` };
  },
});
process.on("message", (command: ModelCommand) => {
  switch (command) {
    case "go":
      opened.resolve();
      break;
    case "take": {
      const taken = [...asked];
      asked = new Map();
      tell({ asked: taken });
    }
  }
});
tell({ port: server.port });
await new Promise((resolve) => process.once("disconnect", resolve));

function tell(news: ModelNews): void {
  process.send!(news);
}
