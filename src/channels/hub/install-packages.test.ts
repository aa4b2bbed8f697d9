import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { describeCommand, installCommand, installPackages, missingPackages } from "./install-packages.ts";

function place(...path: readonly string[]): string {
  const folder = join(...path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  return folder;
}

test("a package is there where Node would find it", () => {
  using home = temporaryFolder();
  const root = place(home.path, "node_modules", "cortexd");
  expect(missingPackages(["ws@8.22.2", "@scope/mail@1"], root)).toEqual(["ws@8.22.2", "@scope/mail@1"]);
  place(home.path, "node_modules", "ws");
  place(root, "node_modules", "@scope/mail");
  expect(missingPackages(["ws@8.22.2", "@scope/mail@1"], root)).toEqual([]);
  expect(missingPackages(undefined, root)).toEqual([]);
});

test("a package is installed beside Cortex, however Cortex was installed", () => {
  using home = temporaryFolder();
  const checkout = place(home.path, "checkout");
  expect(installCommand(["ws@8"], checkout)).toEqual({
    args: ["install", "--no-save", "ws@8"],
    folder: checkout,
  });
  const project = place(home.path, "project");
  const inProject = place(project, "node_modules", "cortexd");
  expect(installCommand(["ws@8"], `${inProject}/`)).toEqual({ args: ["install", "ws@8"], folder: project });
  const global = place(home.path, "usr", "lib", "node_modules", "cortexd");
  const command = installCommand(["ws@8"], global);
  expect(command.args).toEqual(["install", "--global", "--prefix", join(home.path, "usr"), "ws@8"]);
  expect(describeCommand(command)).toBe(
    `(cd '${join(home.path, "usr", "lib")}' && npm install --global --prefix ${join(home.path, "usr")} ws@8)`,
  );
});

test("npm gets no secrets, and what it says of a failure is told", async () => {
  using home = temporaryFolder();
  const said = join(home.path, "said");
  const npm = join(home.path, "npm");
  writeFileSync(
    npm,
    `#!/bin/sh\necho "$@" > ${said}\nenv >> ${said}\necho "npm error code E404" >&2\nexit 1\n`,
  );
  chmodSync(npm, 0o755);
  const environment = { PATH: `${home.path}:/usr/bin:/bin`, TELEGRAM_BOT_TOKEN: "1:secret" };
  const signal = new AbortController().signal;
  await expect(installPackages(["ws@8"], environment, signal)).rejects.toMatchObject({
    code: "package_missing",
    message: "npm could not install ws@8: npm error code E404",
  });
  expect(readFileSync(said, "utf8")).toMatch(/^install .*ws@8/);
  expect(readFileSync(said, "utf8")).not.toContain("secret");
  const missing = installPackages(["ws@8"], { PATH: join(home.path, "nothing") }, signal);
  await expect(missing).rejects.toMatchObject({ code: "package_missing" });
});
