import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";

import { CLOSED_PORT } from "../../test/support/closed-port.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { checkDependencies, MAX_AUDIT_BYTES } from "./check-dependencies.ts";
import { MAX_ADVISORIES, readAudit } from "./read-audit.ts";

const LONG = { timeout: 60_000 };

/** A registry on loopback that knows of these advisories. */
async function registry(advisories: unknown) {
  const asked: Record<string, string[]>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const isAudit = request.url!.endsWith("/advisories/bulk");
      if (isAudit) asked.push(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString()));
      response.statusCode = isAudit ? 200 : 404;
      response.setHeader("content-type", "application/json");
      response.end(isAudit ? JSON.stringify(advisories) : "{}");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function environmentWith(home: string, url: string) {
  return { PATH: process.env["PATH"], HOME: home, npm_config_registry: url };
}

test(
  "the registry is asked about every production dependency, and what it knows is reported",
  LONG,
  async () => {
    using home = temporaryFolder();
    const advisory = {
      id: 1,
      url: "https://example.test/1",
      cwe: [],
      cvss: { score: 0 },
      vulnerable_versions: "<99.0.0",
    };
    await using served = await registry({
      zod: [{ ...advisory, title: "Reads too much", severity: "high" }],
      hono: [{ ...advisory, title: "Slow", severity: "low" }],
    });
    const checks = await checkDependencies({ environment: environmentWith(home.path, served.url) });
    expect(checks.map(({ state, message }) => [state, message])).toEqual([
      ["fail", "zod <99.0.0: Reads too much (high)"],
      ["warn", "hono <99.0.0: Slow (low)"],
    ]);
    expect(Object.keys(served.asked[0]!)).toContain("better-sqlite3");
    expect(served.asked[0]).not.toHaveProperty("vitest");
    expect(Object.values(served.asked[0]!).flat().length).toBeGreaterThan(100);
  },
);

test(
  "a registry that knows of none, and one that does not answer, are told apart; neither is a failure",
  LONG,
  async () => {
    using home = temporaryFolder();
    await using served = await registry({});
    expect(await checkDependencies({ environment: environmentWith(home.path, served.url) })).toMatchObject([
      { state: "ok", message: expect.stringMatching(/^no known vulnerabilities in \d{3} dependencies$/) },
    ]);
    const nobody = `http://127.0.0.1:${CLOSED_PORT}`;
    expect(await checkDependencies({ environment: environmentWith(home.path, nobody) })).toMatchObject([
      {
        state: "warn",
        message: expect.stringMatching(/^\d{3} dependencies were not checked: .*ECONNREFUSED/),
      },
    ]);
  },
);

/** An npm that does this. */
function playedNpm(script: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  writeFileSync(join(folder.path, "bin/npm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder.path, "bin/npm"), 0o755);
  const PATH = `${join(folder.path, "bin")}:${process.env["PATH"]}`;
  return { PATH, path: folder.path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test("without npm, and with one that hangs or floods, nothing is known", LONG, async () => {
  expect(await checkDependencies({ environment: { PATH: "/nowhere" } })).toMatchObject([
    { state: "warn", message: expect.stringContaining("npm is not installed") },
  ]);
  using hangs = playedNpm("exec sleep 1000");
  expect(await checkDependencies({ environment: { PATH: hangs.PATH }, timeoutMs: 300 })).toMatchObject([
    { state: "warn", message: expect.stringContaining("no registry answered within 0.3 s") },
  ]);
  using floods = playedNpm("exec yes");
  expect(await checkDependencies({ environment: { PATH: floods.PATH } })).toMatchObject([
    { state: "warn", message: expect.stringContaining(`npm wrote more than ${MAX_AUDIT_BYTES} bytes`) },
  ]);
});

test("npm gets no variable that it does not need", async () => {
  using npm = playedNpm(`echo "{\\"message\\":\\"$(env | cut -d= -f1 | sort | tr '\\n' ' ')\\"}"`);
  const environment = {
    PATH: npm.PATH,
    HOME: npm.path,
    SOME_API_KEY: "sk-1",
    HTTPS_PROXY: "http://127.0.0.1:9",
  };
  const [check] = await checkDependencies({ environment });
  expect(check!.message).toMatch(/not checked: HOME HTTPS_PROXY (?:OLDPWD )?PATH PWD (?:SHLVL )?(?:_ )?$/);
});

test("what npm says is read with care", () => {
  expect(readAudit("npm ERR!")).toEqual({ kind: "unanswered", why: "npm gave no report" });
  expect(readAudit('{"error":{"summary":"offline"}}')).toEqual({ kind: "unanswered", why: "offline" });
  const via = (n: number) => ({
    name: `p${n}`,
    title: `T${n}`,
    severity: n === 3 ? "critical" : "low",
    range: "*",
  });
  const vulnerabilities = Object.fromEntries(
    Array.from({ length: MAX_ADVISORIES + 5 }, (_, n) => [`p${n}`, { via: [via(n), "p0"] }]),
  );
  const audit = readAudit(JSON.stringify({ vulnerabilities }));
  expect(audit).toMatchObject({ kind: "checked", left: 5, advisories: { length: MAX_ADVISORIES } });
  expect(audit).toHaveProperty("advisories.0", {
    package: "p3",
    title: "T3",
    severity: "critical",
    range: "*",
  });
});
