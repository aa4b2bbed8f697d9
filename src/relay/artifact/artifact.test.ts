import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import {
  makeSection,
  makeWorkspace,
  MAX_ARTIFACT_BYTES,
  mergeSections,
  readArtifact,
  removeWorkspace,
  workspaceOf,
  writeArtifact,
} from "./artifact.ts";

const ID = "thr_0a1b2c3d";
const MISSING = { kind: "missing" };
const unreadable = (reason: string) => ({ kind: "unreadable", reason });

test("a relay has a folder of its own, with an empty artifact", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  expect(workspace.artifact).toBe(join(home.path, "tmp/threads/thr_0a1b2c3d/artifact.md"));
  expect(await readArtifact(workspace)).toEqual({
    kind: "read",
    text: "",
    hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  });
});

test("a workspace that is made again keeps its artifact", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  writeFileSync(workspace.artifact, "# Plan");
  await makeWorkspace(home.path, ID);
  expect(await readArtifact(workspace)).toMatchObject({ text: "# Plan" });
});

test("a name that is no relay's id has no workspace", () => {
  for (const id of ["", "..", "thr_0a1b2c3d/..", "../../etc", "THR_0A1B2C3D"])
    expect(() => workspaceOf("/home", id)).toThrow(expect.objectContaining({ code: "id_invalid" }));
});

test("a home that cannot be written is an error that names it", async () => {
  await expect(makeWorkspace("/dev/null", ID)).rejects.toMatchObject({ code: "home_unwritable" });
});

test("an artifact that was deleted is missing, and so is one whose folder was", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  rmSync(workspace.artifact);
  expect(await readArtifact(workspace)).toEqual(MISSING);
  rmSync(workspace.path, { recursive: true });
  expect(await readArtifact(workspace)).toEqual(MISSING);
});

test("a folder in place of the artifact is not read", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  rmSync(workspace.artifact);
  mkdirSync(workspace.artifact);
  expect(await readArtifact(workspace)).toEqual(unreadable("is a folder"));
});

test("a link is followed inside the workspace and nowhere else", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  writeFileSync(join(workspace.path, "notes.md"), "notes");
  writeFileSync(join(home.path, "secret"), "secret");
  const linkTo = (target: string) => {
    rmSync(workspace.artifact, { force: true });
    symlinkSync(target, workspace.artifact);
    return readArtifact(workspace);
  };
  expect(await linkTo("notes.md")).toMatchObject({ text: "notes" });
  expect(await linkTo("../../../secret")).toEqual(unreadable("is a link out of the relay's workspace"));
  expect(await linkTo("/etc/passwd")).toEqual(unreadable("is a link out of the relay's workspace"));
  expect(await linkTo("/dev/zero")).toEqual(unreadable("is a link out of the relay's workspace"));
  expect(await linkTo("nowhere")).toEqual(MISSING);
  expect(await linkTo("artifact.md")).toEqual(unreadable("is a link that points to itself"));
  expect(await linkTo(".")).toEqual(unreadable("is a link out of the relay's workspace"));
});

test("a link in place of the whole workspace leads nowhere", async () => {
  using home = temporaryFolder();
  using elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere.path, "artifact.md"), "another's");
  const workspace = workspaceOf(home.path, ID);
  mkdirSync(join(home.path, "tmp", "threads"), { recursive: true });
  symlinkSync(elsewhere.path, workspace.path);
  expect(await readArtifact(workspace)).toEqual(unreadable("is a link out of the relay's workspace"));
  const refused = { code: "home_unwritable", message: expect.stringContaining("a link") };
  await expect(makeWorkspace(home.path, ID)).rejects.toMatchObject(refused);
  await expect(writeArtifact(workspace, "ours")).rejects.toMatchObject(refused);
  await expect(makeSection(workspace, "sections/0-0-a.md")).rejects.toMatchObject(refused);
  expect(readdirSync(elsewhere.path)).toEqual(["artifact.md"]);
  expect(readFileSync(join(elsewhere.path, "artifact.md"), "utf8")).toBe("another's");
});

test("a home may be a link itself", async () => {
  using home = temporaryFolder();
  using other = temporaryFolder();
  const link = join(other.path, "home");
  symlinkSync(home.path, link);
  const workspace = await makeWorkspace(link, ID);
  await writeArtifact(workspace, "ours");
  expect(await readArtifact(workspace)).toMatchObject({ text: "ours" });
});

test("a pipe in place of the artifact is not waited for", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  rmSync(workspace.artifact);
  execFileSync("mkfifo", [workspace.artifact]);
  expect(await readArtifact(workspace)).toEqual(unreadable("is not a file"));
});

test("an artifact is read up to its limit, and not beyond", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  truncateSync(workspace.artifact, MAX_ARTIFACT_BYTES);
  expect(await readArtifact(workspace)).toMatchObject({ kind: "read" });
  truncateSync(workspace.artifact, MAX_ARTIFACT_BYTES + 1);
  expect(await readArtifact(workspace)).toEqual(unreadable("exceeds 4194304 bytes"));
  truncateSync(workspace.artifact, 10 * MAX_ARTIFACT_BYTES);
  expect(await readArtifact(workspace)).toMatchObject({ kind: "unreadable" });
});

test.skipIf(process.getuid?.() === 0)("an artifact that may not be read is not", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  chmodSync(workspace.artifact, 0o000);
  expect(await readArtifact(workspace)).toEqual(unreadable("is not readable: permission denied"));
});

test("an artifact that is read-only is read, and replaced where that is Cortex's to do", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  writeFileSync(workspace.artifact, "fixed");
  chmodSync(workspace.artifact, 0o444);
  expect(await readArtifact(workspace)).toMatchObject({ text: "fixed" });
  await writeArtifact(workspace, "merged");
  expect(await readArtifact(workspace)).toMatchObject({ text: "merged" });
});

test("writing the artifact replaces a link and leaves what it leads to", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  const secret = join(home.path, "secret");
  writeFileSync(secret, "secret");
  rmSync(workspace.artifact);
  symlinkSync(secret, workspace.artifact);
  await writeArtifact(workspace, "merged");
  expect(readFileSync(secret, "utf8")).toBe("secret");
  expect(await readArtifact(workspace)).toMatchObject({ text: "merged" });
});

test("an artifact that cannot be written is an error, and nothing is left beside it", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  rmSync(workspace.artifact);
  mkdirSync(join(workspace.artifact, "full"), { recursive: true });
  await expect(writeArtifact(workspace, "text")).rejects.toMatchObject({ code: "home_unwritable" });
  expect(readdirSync(workspace.path)).toEqual(["artifact.md"]);
});

test("a workspace is removed with everything in it, and what its links lead to stays", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  mkdirSync(join(home.path, "kept"));
  symlinkSync(join(home.path, "kept"), join(workspace.path, "link"));
  await removeWorkspace(home.path, ID);
  await removeWorkspace(home.path, ID);
  expect(existsSync(workspace.path)).toBe(false);
  expect(existsSync(join(home.path, "kept"))).toBe(true);
});

test("a section is a file of its own in the workspace, and stays as it is when it is made again", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  const section = await makeSection(workspace, "sections/1-0-a.md");
  writeFileSync(section, "found");
  await makeSection(workspace, "sections/1-0-a.md");
  expect(await readArtifact(workspace, section)).toMatchObject({ text: "found" });
});

test("no section is made where a link leads out of the workspace", async () => {
  using home = temporaryFolder();
  const workspace = await makeWorkspace(home.path, ID);
  symlinkSync(home.path, join(workspace.path, "sections"));
  await expect(makeSection(workspace, "sections/1-0-a.md")).rejects.toMatchObject({
    code: "home_unwritable",
  });
  expect(existsSync(join(home.path, "1-0-a.md"))).toBe(false);
});

test("sections come after the artifact, in the order of the list", () => {
  const sections = [
    { title: "b", text: "second\n" },
    { title: "a:x", text: "first" },
  ];
  expect(mergeSections("# Plan\n", sections)).toBe("# Plan\n\n## b\n\nsecond\n\n## a:x\n\nfirst\n");
});

test("a section with nothing in it leaves no trace", () => {
  expect(mergeSections("# Plan\n", [{ title: "a", text: " \n" }])).toBe("# Plan\n");
});

test("sections that were merged once are not merged again", () => {
  const section = fc.record({ title: fc.string(), text: fc.string() });
  fc.assert(
    fc.property(fc.string(), fc.array(section), (artifact, sections) => {
      const merged = mergeSections(artifact, sections);
      expect(mergeSections(merged, sections)).toBe(merged);
    }),
  );
});
