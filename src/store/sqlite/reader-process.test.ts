import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { ReaderRequest } from "./reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const PROGRAM = fileURLToPath(new URL("reader-process.ts", import.meta.url));
/** Long enough for whoever has asked to go. */
const SLOW =
  "with recursive n(x) as (select 1 union all select x + 1 from n where x < 1000000) select count(*) from n";

test("an answer that nobody waits for any more is dropped without a word", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "cortex.db");
  await using _ = await openSqliteStore({ path, clock: () => 0 });
  const child = fork(PROGRAM, [path], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv: [],
  });
  const ended = once(child, "exit");
  const said = text(child.stderr!);
  child.send({ kind: "query", sql: SLOW, params: [], maxRows: 1 } satisfies ReaderRequest, () =>
    child.disconnect(),
  );
  expect({ ended: await ended, said: await said }).toEqual({ ended: [0, null], said: "" });
});
