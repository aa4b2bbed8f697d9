/** Ways to have a file without the label of what it holds. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { openTestStore, type TestStore } from "../../test/support/open-store.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { TurnId } from "../model/ids.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../model/principal.ts";
import { joinLabels, type Label, NO_LABEL, OWNERS } from "../model/trust.ts";
import { MAX_PAGE } from "../store/store.ts";
import { FileLabels, FOREIGN, MAX_RECORDS_CHECKED } from "./file-labels.ts";
import { MAX_FILES_SCANNED, MAX_HASHED_BYTES } from "./scan-folders.ts";

const ADA = personPrincipal("ada");
const FOR_ADA = { principal: ADA, audience: ADA, turn: "turn-1" as TurnId };
const FOR_OWNER = { principal: OWNER_PRINCIPAL, audience: OWNER_PRINCIPAL, turn: "turn-2" as TurnId };
const OF_ADA: Label = { ...NO_LABEL, untrusted: [ADA], private: [ADA] };
const TEXT = "The number of the safe is 4711, which is a secret.\n";
const SHORT = "4711\n";

class Scene implements AsyncDisposable {
  readonly #opened: TestStore;
  readonly #temporary = temporaryFolder();
  readonly folder = realpathSync(this.#temporary.path);
  readonly files: FileLabels;

  private constructor(opened: TestStore) {
    this.#opened = opened;
    this.files = new FileLabels({ labels: opened.store.labels, foreign: [this.path("work", "inbox")] });
    mkdirSync(this.path("work"));
    mkdirSync(this.path("other"));
  }

  static async open(): Promise<Scene> {
    return new Scene(await openTestStore());
  }

  get labels() {
    return this.#opened.store.labels;
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** As a tool does for a session with Ada's words. */
  write(path: string, text: string, label = OF_ADA): Promise<void> {
    return this.files.write(path, Buffer.from(text), label, FOR_ADA, async () => writeFileSync(path, text));
  }

  /** A command of an agent, in a sandbox that can write to the folder `work`. */
  async command(script: string, label = OF_ADA): Promise<void> {
    const reads = joinLabels(label, await this.files.ofFolders([this.path("work")]));
    await this.files.run(
      { folders: [this.path("work")], label: reads, isConfined: true },
      FOR_OWNER,
      async () => this.shell(script),
    );
  }

  /** What people and their programs do outside of Cortex. */
  shell(script: string): void {
    const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    execFileSync("bash", ["-ec", script], { cwd: this.path("work"), env: { ...process.env, ...git } });
  }

  /** The next command begins after all that was done so far. */
  async later(): Promise<void> {
    const nowMs = Date.now();
    await vi.waitUntil(() => Date.now() > nowMs + 200, { timeout: 5_000 });
  }

  async untrustedBelow(...names: string[]): Promise<readonly string[]> {
    return (await this.files.ofFolders([this.path(...names)])).untrusted;
  }

  async untrustedIn(...names: string[]): Promise<readonly string[]> {
    return (await this.files.ofFile(this.path(...names))).untrusted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#temporary[Symbol.dispose]();
    await this.#opened[Symbol.asyncDispose]();
  }
}

const COMMANDS: Readonly<Record<string, { readonly script: string; readonly result: string }>> = {
  "a rename": { script: "mv a b", result: "b" },
  "a rename with an old time": { script: "mv a b && touch -d '2001-01-01' b", result: "b" },
  "a copy with a change": { script: "sed s/4711/4712/ a > b", result: "b" },
  "a copy that keeps its times": { script: "cp -p a b && echo x >> b && touch -r a b", result: "b" },
  "an append": { script: "touch b && cat a >> b", result: "b" },
  "a truncation": { script: "cp a b && truncate -s 5 b", result: "b" },
  "a hard link": { script: "ln a b", result: "b" },
  "a symbolic link": { script: "ln -s a b", result: "b" },
  "a write through a symbolic link": { script: "touch b && ln -s b c && cat a > c", result: "b" },
  "an archive that is unpacked": { script: "tar cf x.tar a && rm a && tar xf x.tar", result: "a" },
  "an archive": { script: "tar cf b a", result: "b" },
  "a move in a new folder": { script: "mkdir d && mv a d/b && mv d e", result: "e/b" },
  "an edit in place": { script: "cp a b && sed -i s/4711/1174/ b", result: "b" },
  "a checkout": {
    script:
      "git init -q . && git add a && git -c user.name=n -c user.email=e commit -qm c && echo x > a && git checkout -q a",
    result: "a",
  },
};

for (const [name, { script, result }] of Object.entries(COMMANDS))
  for (const text of [TEXT, SHORT])
    test(`by a command of an agent that could read it: ${name} of ${text.length} characters`, async () => {
      await using at = await Scene.open();
      await at.write(at.path("work", "a"), text);
      await at.command(script, NO_LABEL);
      expect(await at.untrustedIn("work", result)).toEqual([ADA]);
    });

test("a folder that a command of an agent renames has the labels of its files", async () => {
  await using at = await Scene.open();
  mkdirSync(at.path("work", "d"));
  writeFileSync(at.path("work", "d", "mine"), "The owner's own file, of another length.");
  await at.write(at.path("work", "d", "a"), SHORT);
  // The command begins after the files were written.
  await expect
    .poll(Date.now, { timeout: 5_000 })
    .toBeGreaterThan(statSync(at.path("work", "d", "a")).ctimeMs + 200);
  await at.command("mv d e", NO_LABEL);
  expect((await at.files.ofFolders([at.path("work", "e")])).untrusted).toEqual([ADA]);
  expect(await at.untrustedIn("work", "e", "mine")).toEqual([]);
});

test("a command leaves the label of a file that it does not touch as it is", async () => {
  await using at = await Scene.open();
  await at.write(at.path("work", "a"), TEXT);
  const changedMs = statSync(at.path("work", "a")).ctimeMs;
  await expect.poll(Date.now, { timeout: 5_000 }).toBeGreaterThan(changedMs + 200);
  await at.command("echo x > b", { ...NO_LABEL, untrusted: ["person:bob"] });
  expect(await at.untrustedIn("work", "a")).toEqual([ADA]);
  expect(await at.untrustedIn("work", "b")).toEqual([ADA, "person:bob"]);
});

test("a command that reads nothing of it leaves other files as they were", async () => {
  await using at = await Scene.open();
  writeFileSync(at.path("other", "mine"), TEXT);
  await at.command("echo x > b");
  expect(await at.untrustedIn("other", "mine")).toEqual([]);
  expect(await at.untrustedIn("work", "b")).toEqual([ADA]);
});

test("files that the owner moves, copies, links or archives keep their label where they are unchanged", async () => {
  await using at = await Scene.open();
  for (const text of [TEXT, SHORT]) {
    mkdirSync(at.path("work", "inner"));
    await at.write(at.path("work", "inner", "a"), text);
    linkSync(at.path("work", "inner", "a"), at.path("other", "link"));
    symlinkSync(at.path("work", "inner", "a"), at.path("other", "pointer"));
    expect(await at.untrustedIn("other", "link")).toEqual([ADA]);
    expect(await at.untrustedIn("other", "pointer")).toEqual([ADA]);

    renameSync(at.path("work", "inner"), at.path("work", "renamed"));
    cpSync(at.path("work", "renamed"), at.path("other", "copied"), { recursive: true });
    at.shell("tar cf x.tar renamed && rm -r renamed && tar xf x.tar");
    for (const place of [["work", "renamed", "a"] as const, ["other", "copied", "a"] as const])
      expect(await at.untrustedIn(...place)).toEqual([ADA]);
    for (const left of [["work", "renamed"] as const, ["other", "copied"] as const])
      rmSync(at.path(...left), { recursive: true });
    for (const left of ["link", "pointer"]) rmSync(at.path("other", left));
  }
});

test("a folder that is reached by a link is the same folder", async () => {
  await using at = await Scene.open();
  symlinkSync(at.path("work"), at.path("way"));
  await at.write(at.path("way", "a"), SHORT);
  expect(await at.untrustedIn("work", "a")).toEqual([ADA]);
  expect((await at.files.ofFolders([at.path("way")])).untrusted).toEqual([ADA]);
  writeFileSync(at.path("way", "output"), TEXT);
  await at.files.record(at.path("way", "output"), OF_ADA, FOR_ADA);
  expect(await at.untrustedIn("work", "output")).toEqual([ADA]);
});

test("a file that is too long for a hash has the label of its path, and so has one of the same length", async () => {
  await using at = await Scene.open();
  const length = MAX_HASHED_BYTES + 1;
  writeFileSync(at.path("work", "long"), "x");
  truncateSync(at.path("work", "long"), length); // sparse
  const long = { path: at.path("work", "long"), sha256: "x", size: length, label: OF_ADA };
  await at.labels.willWrite({ ...long, principal: ADA, turn: undefined, atMs: Date.now() });
  expect(await at.untrustedIn("work", "long")).toEqual([ADA]);
  renameSync(at.path("work", "long"), at.path("other", "moved"));
  expect(await at.untrustedIn("other", "moved")).toEqual([ADA]);
});

test("a command that leaves a file too long for a hash stays recorded itself", async () => {
  await using at = await Scene.open();
  await at.command(`truncate -s ${MAX_HASHED_BYTES + 1} long && echo x > b`);
  for (const name of ["long", "b"]) expect(await at.untrustedIn("work", name)).toEqual([ADA]);
});

test("a command that leaves too many files stays recorded itself", async () => {
  await using at = await Scene.open();
  await at.command(`seq ${MAX_FILES_SCANNED + 1} | xargs touch && echo x > zzz`);
  expect(await at.untrustedIn("work", "zzz")).toEqual([ADA]);
});

test("many files of one length, or many in one folder, hide no record", async () => {
  await using at = await Scene.open();
  const bob = { ...NO_LABEL, untrusted: ["person:bob"], private: [] };
  const record = { size: TEXT.length, label: bob, principal: ADA, turn: undefined, atMs: 1 };
  const many = Array.from({ length: Math.max(MAX_PAGE, MAX_RECORDS_CHECKED) + 1 }, (_, at) => at);
  for (const n of many)
    await at.labels.willWrite({ ...record, path: at.path("work", `0-${n}`), sha256: `${n}` });
  await at.write(at.path("work", "z"), TEXT);
  expect(await at.untrustedIn("work", "z")).toEqual([ADA]);
  renameSync(at.path("work", "z"), at.path("other", "moved"));
  expect(await at.untrustedIn("other", "moved")).toEqual([ADA]);
  expect((await at.files.ofFolders([at.path("work")])).untrusted).toEqual([ADA, "person:bob"]);
});

test("many commands hide none with another label", async () => {
  await using at = await Scene.open();
  const all = { folders: ["/"], isConfined: false };
  await at.files.run({ ...all, label: OF_ADA }, FOR_ADA, async () =>
    writeFileSync(at.path("work", "a"), TEXT),
  );
  const bob = { ...NO_LABEL, untrusted: ["person:bob"] };
  for (let n = 0; n <= MAX_PAGE; n++) await at.files.run({ ...all, label: bob }, FOR_OWNER, async () => {});
  expect(await at.untrustedIn("work", "a")).toContain(ADA);
});

test("a home keeps the labels of its files wherever it is restored or moved to", async () => {
  await using at = await Scene.open();
  const inHome = (home: string): FileLabels => new FileLabels({ labels: at.labels, home, foreign: [] });
  const [before, after] = [at.path("home"), at.path("restored")];
  mkdirSync(join(before, "workspaces"), { recursive: true });
  const path = join(before, "workspaces", "a");
  await inHome(before).write(path, Buffer.from(SHORT), OF_ADA, FOR_ADA, async () =>
    writeFileSync(path, SHORT),
  );
  renameSync(before, after);
  rmSync(before, { recursive: true, force: true });
  const files = inHome(after);
  expect((await files.ofFile(join(after, "workspaces", "a"))).untrusted).toEqual([ADA]);
  expect((await files.ofFolders([join(after, "workspaces")])).untrusted).toEqual([ADA]);
  expect((await files.ofFolders([at.folder])).untrusted).toEqual([ADA]);
  expect((await files.ofFolders([at.path("other")])).untrusted).toEqual([]);
});

test("in a shared folder, the words of an agent stay in a file that people change, and in the copies of it", async () => {
  await using at = await Scene.open();
  const files = new FileLabels({ labels: at.labels, foreign: [], shared: async () => [at.path("work")] });
  const of = async (...names: string[]) => (await files.ofFile(at.path("work", ...names))).untrusted;
  await at.write(at.path("work", "note.md"), TEXT);
  writeFileSync(at.path("work", "note.md"), `The owner's own line.\n${TEXT}`);
  writeFileSync(at.path("work", "mine.md"), "Nobody else wrote here.");
  mkdirSync(at.path("work", ".cortex"));
  writeFileSync(at.path("work", ".cortex", "journal"), "note.md as it was");
  expect(await of("note.md")).toEqual([ADA]);
  expect(await of(".cortex", "journal")).toEqual([ADA]);
  expect(await of("mine.md")).toEqual([]);

  await files.addPart(at.path("work", "mine.md"), { ...OF_ADA, untrusted: ["person:bob"] }, FOR_ADA);
  expect(await of("mine.md")).toEqual(["person:bob"]);
  expect((await files.ofRest(at.path("work", "mine.md"))).label).toEqual(OWNERS);
  expect((await files.ofRest(at.path("work", "note.md"))).label.untrusted).toEqual([ADA]);
});

test("in a shared folder, what a free command may have written is kept before a program of ours writes", async () => {
  await using at = await Scene.open();
  const files = new FileLabels({ labels: at.labels, foreign: [], shared: async () => [at.path("work")] });
  const path = at.path("work", "tasks.md");
  await files.run({ folders: ["/"], label: OF_ADA, isConfined: false }, FOR_OWNER, async () =>
    writeFileSync(path, TEXT),
  );
  await files.keepRest(path);
  rmSync(path);
  const [command] = await at.labels.commands({ fromMs: 0, untilMs: Date.now() + 1_000 });
  // The new file is made after the command.
  await expect.poll(Date.now, { timeout: 5_000 }).toBeGreaterThan(command!.endedAtMs! + 200);
  writeFileSync(path, `${TEXT}tick`);
  expect((await files.ofRest(path)).label.untrusted).toEqual([ADA]);
});

for (const [name, script] of Object.entries({
  "a folder of them is renamed": "mv inbox/old notes",
  "their folder is renamed": "mv inbox kept && mkdir inbox && ln -s kept/old notes",
  "a folder of them goes into a new one": "mkdir new && mv inbox/old new && ln -s new/old notes",
}))
  test(`documents of others stay so when a command of an agent moves them: ${name}`, async () => {
    await using at = await Scene.open();
    mkdirSync(at.path("work", "inbox", "old"), { recursive: true });
    writeFileSync(at.path("work", "inbox", "old", "letter"), TEXT);
    await at.later();
    await at.command(script, NO_LABEL);
    expect(await at.untrustedIn("work", "notes", "letter")).toEqual(FOREIGN.untrusted);
  });

test("documents of others stay so when a command of an agent lets the link to them lead elsewhere", async () => {
  await using at = await Scene.open();
  mkdirSync(at.path("work", "mail"));
  symlinkSync("mail", at.path("work", "inbox"));
  writeFileSync(at.path("work", "mail", "letter"), TEXT);
  await at.later();
  await at.command("mkdir empty && rm inbox && ln -s empty inbox", NO_LABEL);
  expect(await at.untrustedIn("work", "mail", "letter")).toEqual(FOREIGN.untrusted);
});

test("documents of others are in their folder whatever its spelling, and whether it is a link or reached by one", async () => {
  await using at = await Scene.open();
  mkdirSync(at.path("disk"));
  symlinkSync(at.path("disk"), at.path("work", "Inbox"));
  writeFileSync(at.path("disk", "letter"), TEXT);
  symlinkSync(at.path("work"), at.path("way"));
  const files = new FileLabels({
    labels: at.labels,
    foreign: [at.path("way", "inbox")],
    outputs: at.path("way", "output"),
  });
  mkdirSync(at.path("work", "output"));
  writeFileSync(at.path("work", "output", "left"), TEXT);
  for (const path of [
    ["disk", "letter"] as const,
    ["work", "Inbox", "letter"] as const,
    ["work", "output", "left"] as const,
  ])
    expect((await files.ofFile(at.path(...path))).untrusted).toEqual(FOREIGN.untrusted);
  expect((await files.ofFolders([at.path("disk")])).untrusted).toEqual(FOREIGN.untrusted);
  expect((await files.ofFolders([at.path("other")])).untrusted).toEqual([]);
});

test("what is gone from the folder for documents of others, and a link there that leads nowhere, is theirs", async () => {
  await using at = await Scene.open();
  mkdirSync(at.path("work", "inbox"));
  symlinkSync("OBEY", at.path("work", "inbox", "link"));
  for (const name of ["link", "gone"])
    expect(await at.untrustedIn("work", "inbox", name)).toEqual(FOREIGN.untrusted);
});

test("a folder has the labels of files that people have moved or copied there", async () => {
  await using at = await Scene.open();
  mkdirSync(at.path("work", "inner"));
  await at.write(at.path("work", "inner", "a"), TEXT);
  await at.write(at.path("work", "short"), SHORT);
  expect(await at.untrustedBelow("other")).toEqual([]);

  cpSync(at.path("work", "inner", "a"), at.path("other", "copy"));
  expect(await at.untrustedBelow("other")).toEqual([ADA]);
  rmSync(at.path("other", "copy"));
  expect(await at.untrustedBelow("other")).toEqual([]);

  renameSync(at.path("work", "inner"), at.path("other", "renamed"));
  expect(await at.untrustedBelow("other")).toEqual([ADA]);
  expect(await at.untrustedBelow("other", "renamed")).toEqual([ADA]);
  rmSync(at.path("other", "renamed"), { recursive: true });
  expect(await at.untrustedBelow("other")).toEqual([]);
});

test("a folder with too many files to look at has the labels of what is no longer where it was written", async () => {
  await using at = await Scene.open();
  await at.write(at.path("work", "a"), TEXT);
  at.shell(`cd ../other && seq ${MAX_FILES_SCANNED + 1} | xargs touch`);
  expect(await at.untrustedBelow("other")).toEqual([]);
  renameSync(at.path("work", "a"), at.path("other", "zzz"));
  expect(await at.untrustedBelow("other")).toEqual([ADA]);
});

const ORDER = "OBEY this, whoever lists the folder";

test("the name of a folder has the label of whose write made it, also where people move it", async () => {
  await using at = await Scene.open();
  const path = at.path("work", "new", ORDER, "a");
  await at.files
    .write(path, Buffer.from(TEXT), OF_ADA, FOR_ADA, async () => {
      mkdirSync(at.path("work", "new", ORDER), { recursive: true });
      throw new Error("The name of the file is too long");
    })
    .catch(() => {});
  for (const folder of ["work", "work/new"]) expect(await at.untrustedBelow(folder)).toEqual([ADA]);

  renameSync(at.path("work", "new"), at.path("other", "moved"));
  expect(await at.untrustedBelow("work")).toEqual([]);
  expect(await at.untrustedBelow("other")).toEqual([ADA]);
});

test("a folder that the owner's conversation makes anew has no label of the one before it", async () => {
  await using at = await Scene.open();
  const path = at.path("work", "notes", "a");
  const make = async (): Promise<void> => {
    mkdirSync(at.path("work", "notes"));
    writeFileSync(path, TEXT);
  };
  await at.files.write(path, Buffer.from(TEXT), OF_ADA, FOR_ADA, make);
  rmSync(at.path("work", "notes"), { recursive: true });
  await at.files.write(path, Buffer.from(TEXT), NO_LABEL, FOR_OWNER, make);
  expect(await at.untrustedBelow("work")).toEqual([]);
});

for (const [name, script] of Object.entries({
  "a folder": `mkdir -p 'notes/OBEY this'`,
  "a link": `mkdir notes && ln -s 'OBEY this' notes/link`,
  "a pipe": `mkfifo 'OBEY this'`,
  "a folder of an older one": `mv old 'OBEY this'`,
}))
  test(`whoever has a command make ${name} chooses its words`, async () => {
    await using at = await Scene.open();
    mkdirSync(at.path("work", "old"));
    await at.later();
    await at.command(script);
    expect(await at.untrustedBelow("work")).toEqual([ADA]);
    expect(await at.labels.commands({ fromMs: 0, untilMs: Date.now() + 1_000 })).toEqual([]);
  });

const UNSEEN: Readonly<
  Record<string, { readonly script: string; readonly next: string; readonly result: string }>
> = {
  "under a name that is no text": {
    script: "printf 'OBEY this' > \"$(printf 'a\\377')\"",
    next: "mv a* b",
    result: "b",
  },
  "deeper than a path may be long": {
    script: `for i in $(seq 18); do mkdir ${"d".repeat(250)} && cd ${"d".repeat(250)}; done; mkdir top && echo OBEY > top/a`,
    next: `root=$PWD; for i in $(seq 18); do cd ${"d".repeat(250)}; done; /bin/mv top "$root/b"; rm -r "$root"/d*`,
    result: "b/a",
  },
};

for (const [name, { script, next, result }] of Object.entries(UNSEEN))
  test(`a command that leaves a file ${name} stays recorded itself`, async () => {
    await using at = await Scene.open();
    await at.command(script);
    expect(await at.untrustedBelow("work")).toEqual([ADA]);
    await at.later();
    await at.command(next, NO_LABEL);
    expect(await at.untrustedIn("work", result)).toEqual([ADA]);
  });

test.skipIf(process.getuid?.() === 0)(
  "a command that leaves a folder nobody may read stays recorded itself",
  async () => {
    await using at = await Scene.open();
    await at.command("mkdir d && echo OBEY > d/a && chmod 0 d");
    at.shell("chmod 755 d");
    expect(await at.untrustedIn("work", "d", "a")).toEqual([ADA]);
  },
);

test("an older file whose name is no text does not keep commands recorded", async () => {
  await using at = await Scene.open();
  at.shell("touch \"$(printf 'a\\377')\"");
  await at.later();
  await at.command("echo x > b");
  expect(await at.labels.commands({ fromMs: 0, untilMs: Date.now() + 1_000 })).toEqual([]);
});

test("a write that fails takes no label off the file that was there", async () => {
  await using at = await Scene.open();
  const path = at.path("work", "a");
  writeFileSync(path, "before");
  await at.files.run({ folders: ["/"], label: OF_ADA, isConfined: false }, FOR_OWNER, async () =>
    writeFileSync(path, TEXT),
  );
  await at.later();
  const bob = { ...NO_LABEL, untrusted: ["person:bob"] };
  const failing = async (): Promise<void> => {
    throw new Error("The disk is full");
  };
  await expect(at.files.write(path, Buffer.from("new"), bob, FOR_OWNER, failing)).rejects.toThrow("full");
  expect(await at.untrustedIn("work", "a")).toContain(ADA);
});
