/** Where others would have agents work: in the home of Cortex, whose files decide what runs. */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { Scope } from "../../src/model/scopes.ts";
import { hashToken, mintToken } from "../../src/model/token.ts";
import { openTestServer, PATIENT, type TestServer } from "../support/server.ts";
import { teamHome } from "../support/team-home.ts";
import { entry, plays } from "../support/workers.ts";

const WORKER = {
  description: "works",
  profile: "plain",
  persistSession: false,
  promptTemplate: "{{userMessage}}",
};
const HOOK = "export default async () => ({ fire: false });";

let shared: TestServer;
beforeAll(async () => {
  shared = await openTestServer({
    relays: { agents: { worker: WORKER }, templates: {} },
    profiles: { defaultProfile: "plain", profiles: { plain: { backend: "offline" } } },
    hooks: {},
  });
});
afterAll(() => shared[Symbol.asyncDispose]());

async function tokenFor(server: TestServer, ...can: Scope[]): Promise<{ authorization: string }> {
  const secret = mintToken();
  const id = can.join("-");
  await server.cortex.store.tokens.create(
    { id, name: id, hash: hashToken(secret), can },
    { principal: "owner" },
  );
  return { authorization: `Bearer ${secret}` };
}

function startIn(dir: string, headers?: { authorization: string }) {
  const message = `/tool Write ${JSON.stringify({ path: "evil.ts", content: HOOK })}`;
  const json = { agent: "worker", message, dir };
  return shared.send({ method: "POST", path: "/api/relays", json, ...(headers && { headers }) });
}

const folderOf = (name: string): string => {
  const path = join(shared.cortex.home, name);
  mkdirSync(path, { recursive: true });
  return path;
};

test("a token that may send chooses no folder for a relay", async () => {
  const headers = await tokenFor(shared, "send");
  for (const dir of [
    folderOf("hooks"),
    folderOf("data"),
    folderOf("workspaces/shop"),
    dirname(shared.cortex.home),
  ])
    expect((await startIn(dir, headers)).json.error).toMatchObject({ code: "scope_missing" });
  const json = { agent: "worker", message: "hello" };
  expect((await shared.send({ method: "POST", path: "/api/relays", json, headers })).status).toBe(201);
});

test("nobody's relay works in the home, around it, or behind a link to it", async () => {
  const link = join(folderOf("workspaces"), "linked");
  symlinkSync(folderOf("hooks"), link);
  const names = [
    "",
    "config",
    "data",
    "hooks",
    "logs",
    "plugins",
    "prompts",
    "relays",
    "skills",
    "scripts",
    "workspaces",
  ];
  for (const dir of [...names.map(folderOf), link, dirname(shared.cortex.home), "/"]) {
    const { status, json } = await startIn(dir);
    expect([dir, status, json.error?.code]).toEqual([dir, 400, "request_invalid"]);
  }
  expect(readdirSync(folderOf("hooks"))).toEqual([]);

  const { status, json } = await startIn(folderOf("workspaces/shop"));
  expect(status).toBe(201);
  const ended = async () => (await shared.send(`/api/relays/${json.id}`)).json.status;
  await expect.poll(ended, PATIENT).toBe("completed");
  expect(existsSync(join(folderOf("workspaces/shop"), "evil.ts"))).toBe(true);
});

test("a member whose note names a folder of the home does not work there, and its task says why", async () => {
  using home = teamHome(
    { dev: { isForeign: true, project: "~/none", tasks: "## Write it\n**Status:** ready\n" } },
    { script: entry("^Cortex tick:", "dev", plays([["Write", { path: "evil.ts", content: HOOK }]], "done")) },
  );
  const hooks = join(home.path, "hooks");
  mkdirSync(hooks, { recursive: true });
  home.write("agents/dev/dev.md", home.note("dev").replace("project: ~/none", `project: ${hooks}`));
  await using server = await openTestServer({}, { home: home.path });
  const adopt = (headers: { authorization: string }) =>
    server.send({ method: "POST", path: "/api/team/adopt", json: { agent: "dev" }, headers });
  const headers = await tokenFor(server, "send");
  expect((await adopt(headers)).status).toBe(403);
  const json = { content: "!team adopt dev", session: "main" };
  expect((await server.send({ method: "POST", path: "/api/messages", json, headers })).status).toBe(403);
  expect((await adopt(await tokenFor(server, "approve"))).status).toBe(200);
  await server.send({ method: "POST", path: "/api/team/tick", json: { agent: "dev" } });
  await expect.poll(() => home.tasks("dev"), PATIENT).toContain("is inside the home of Cortex");
  expect(readdirSync(hooks).filter((name) => name.startsWith("evil"))).toEqual([]);
});
