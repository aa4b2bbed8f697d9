import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { type Authority, authorityOf, grantFor, type SenderIdentity } from "./authority.ts";

const { config } = await loadFiles({
  "cortex.json": {
    channels: {
      paired: [
        { channel: "telegram", sender: "42", permissions: { tools: { deny: ["Bash"] } } },
        { channel: "discord", sender: "ann" },
        { channel: "email", sender: "owner" },
      ],
    },
  },
});

test.each<[SenderIdentity, Authority]>([
  [{ channel: "cli", sender: "owner" }, "owner"],
  [{ channel: "http", sender: "owner" }, "owner"],
  [{ channel: "web", sender: "owner" }, "owner"],
  [{ channel: "http", sender: "somebody" }, "guest"],
  [{ channel: "cli" }, "guest"],
  [{ channel: "telegram", sender: "owner" }, "guest"],
  [{ channel: "email", sender: "owner" }, "paired"],
  [{ channel: "webhook", sender: "pay" }, "source"],
  [{ channel: "webhook" }, "source"],
  [{ channel: "webhook", sender: "owner" }, "source"],
  [{ channel: "timer" }, "source"],
  [{ channel: "files" }, "source"],
  [{ channel: "telegram", sender: "42" }, "paired"],
  [{ channel: "telegram", sender: "43" }, "guest"],
  [{ channel: "telegram", sender: "4" }, "guest"],
  [{ channel: "telegram" }, "guest"],
  [{ channel: "discord", sender: "42" }, "guest"],
  [{ channel: "discord", sender: "ann" }, "paired"],
  [{ channel: "discord", sender: "Ann" }, "guest"],
  [{ channel: "constructor", sender: "constructor" }, "guest"],
])("the sender %j is %s", (sender, authority) => {
  expect(authorityOf(sender, config)).toBe(authority);
});

test.each([
  [{ channel: "cli", sender: "owner" }, { authority: "owner" }],
  [{ channel: "timer" }, { authority: "source", permissions: { authority: "source" } }],
  [
    { channel: "telegram", sender: "42" },
    { authority: "paired", permissions: { authority: "paired", tools: { deny: ["Bash"] } } },
  ],
  [
    { channel: "discord", sender: "ann" },
    { authority: "paired", permissions: { authority: "paired" } },
  ],
  [{ channel: "telegram", sender: "43" }, { authority: "guest" }],
])("a message of %j is dispatched with %j", (sender, grant) => {
  expect(grantFor(sender, config)).toEqual(grant);
});
