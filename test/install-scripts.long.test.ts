/** What npm makes of `allowScripts`: with a registry on loopback whose packages have install scripts. */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { temporaryFolder } from "./support/temporary.ts";

const run = promisify(execFile);

test(
  "npm ci runs the install scripts that are allowed, and none that is denied",
  { timeout: 120_000 },
  async () => {
    using folder = temporaryFolder();
    const at = (...names: string[]): string => join(folder.path, ...names);
    const packed = new Map(
      ["allowed", "denied"].map((name) => [name, pack(name, at(`ran-${name}`), folder.path)]),
    );
    const server = createServer((request, response) => {
      const [, name = "", file] = request.url!.split("/");
      const tarball = packed.get(name)!;
      if (file !== undefined) return void response.end(tarball);
      const dist = {
        integrity: integrityOf(tarball),
        tarball: `http://${request.headers.host}/${name}/a.tgz`,
      };
      const version = { name, version: "1.0.0", hasInstallScript: true, dist };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }),
      );
    });
    await once(server.listen(0, "127.0.0.1"), "listening");

    const root = { name: "app", version: "1.0.0", dependencies: { allowed: "1.0.0", denied: "1.0.0" } };
    const packages = Object.fromEntries(
      [...packed].map(([name, tarball]) => [
        `node_modules/${name}`,
        { version: "1.0.0", integrity: integrityOf(tarball), hasInstallScript: true },
      ]),
    );
    mkdirSync(at("app"));
    const allowScripts = { allowed: true, denied: false };
    writeFileSync(at("app", "package.json"), JSON.stringify({ ...root, allowScripts }));
    const lock = { ...root, lockfileVersion: 3, packages: { "": root, ...packages } };
    writeFileSync(at("app", "package-lock.json"), JSON.stringify(lock));
    const { port } = server.address() as AddressInfo;
    const options = [
      "--no-audit",
      "--no-fund",
      "--cache",
      at("cache"),
      "--registry",
      `http://127.0.0.1:${port}`,
    ];
    await run("npm", ["ci", ...options], { cwd: at("app") });
    server.close();
    expect(existsSync(at("app", "node_modules", "denied"))).toBe(true);
    expect([existsSync(at("ran-allowed")), existsSync(at("ran-denied"))]).toEqual([true, false]);
  },
);

function pack(name: string, mark: string, parent: string): Buffer {
  const folder = join(parent, `package-${name}`);
  mkdirSync(folder);
  const about = { name, version: "1.0.0", scripts: { postinstall: `touch '${mark}'` } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(about));
  execFileSync("npm", ["pack", "--pack-destination", parent], { cwd: folder, stdio: "pipe" });
  return readFileSync(join(parent, `${name}-1.0.0.tgz`));
}

function integrityOf(tarball: Buffer): string {
  return `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
}
