/** Who works for whom, as `cortex sessions` and the HTTP interface show it. */
import { expect, test } from "vitest";

import { fetchJson } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { writeHome } from "./support/home.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** A manager with a worker beside it and a sub-agent, which has a worker of its own. */
const SCRIPT = String.raw`
- when: ^survey
  plays:
    - calls:
        - { tool: dispatch_to_agent, args: { agent: scout, task: look at one, wait: true } }
        - { tool: sub_agent, args: { type: general, task: divide two } }
    - say: Both are done.
- when: ^divide
  plays:
    - calls: [{ tool: dispatch_to_agent, args: { type: explore, task: look at half, wait: true } }]
    - say: It is divided.
- { when: "^look at (\\w+)", plays: [{ say: "I have seen $1." }] }
`;

interface Node {
  readonly key: string;
  readonly children: readonly Node[];
  readonly [field: string]: unknown;
}

test(
  "the tree shows who works for whom, in which state, and what all of it has cost",
  { timeout: 120_000 },
  async () => {
    using home = temporaryFolder();
    const profile = { backend: "offline", script: "script.yaml" };
    writeHome(home.path, {
      cortex: { agents: { scout: { persona: "atlas" } } },
      profiles: { defaultProfile: "offline", profiles: { offline: profile } },
      script: SCRIPT,
    });
    await using _ = await startServer(home.path);
    expect((await run(home.path, ["send", "--wait", "survey"])).out).toBe("Both are done.\n");

    const { items } = (await runJson(home.path, "sessions", "--tree")) as { items: Node[] };
    const one = { turns: 1, costUsd: 0, unpriced: 0 };
    const idle = { state: "idle", ...one };
    expect(items).toMatchObject([
      { key: "agent:main:main", channel: "cli", type: null, childCount: 2, ...idle, total: { turns: 4 } },
    ]);
    const below = items[0]!.children.toSorted((a, b) =>
      String(a["channel"]).localeCompare(String(b["channel"])),
    );
    expect(below).toMatchObject([
      { channel: "subagent", agent: "scout", type: null, ...idle, total: one, children: [] },
      {
        channel: "subagent:general",
        agent: "main",
        type: "general",
        ...idle,
        total: { turns: 2 },
        children: [{ channel: "subagent:explore", type: "explore", ...idle, children: [] }],
      },
    ]);

    const { out } = await run(home.path, ["sessions", "--tree"]);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toMatch(
      /^agent:main:main +idle +\[cli\] +main +1 turn +0\.0000 USD +0\.0000 USD including workers$/,
    );
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^⤷ agent:scout:subagent:\w{26} +idle +\[subagent\] +scout +1 turn +0\.0000 USD$/,
      ),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}⤷ agent:main:subagent:\w{26} +idle +\[subagent:explore\]/),
    );
    expect((await run(home.path, ["sessions"])).out).toMatch(/^agent:main:main .*  ⤷ 2 workers$/m);

    const [, second] = below;
    const children = await fetchJson(home.path, `/api/sessions/${encodeURIComponent(second!.key)}/children`);
    expect(children).toMatchObject({ items: [{ parentSession: second!.key, type: "explore" }], next: null });
    expect(await fetchJson(home.path, "/api/sessions?tree=1")).toEqual({ items, next: null });
  },
);
