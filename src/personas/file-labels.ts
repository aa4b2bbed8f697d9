/**
 * The labels of files. What an agent writes has the label of its session; what a command can have written has that of
 * the command. A file that changed otherwise is the owner's: they, or their programs, changed it.
 *
 * Only labels that say more than "the owner's" are recorded, so a home in which nobody else has a say records nothing,
 * and reading there costs one look-up.
 */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { hasCode } from "../model/error-code.ts";
import type { TurnId } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import { OWNER_PRINCIPAL, type Principal } from "../model/principal.ts";
import { isWithin, joinLabels, type Label, labelJson, NO_LABEL, OWNERS } from "../model/trust.ts";
import { type LabelledCommand, type LabelStore, MAX_PAGE, type WrittenFile } from "../store/store.ts";
import { byAbsolutePath, isPathInside } from "./home-paths.ts";

/** Documents of others: whose words they are is not known. */
export const FOREIGN: Label = { ...NO_LABEL, untrusted: ["document"] };

/** A longer file has the label of the last record of its path, even if its content has changed. */
export const MAX_HASHED_BYTES = 256 * 1024 * 1024;
/** A shorter text can be in two files by chance. */
const MIN_MOVED_BYTES = 32;
/** With more records in a folder, all of them count, also those of files that are gone. */
export const MAX_RECORDS_CHECKED = 200;
/** With more files, a command stays recorded instead of the files that it changed. */
export const MAX_FILES_SCANNED = 20_000;
/** Clocks of file systems run behind by some milliseconds. */
const SLACK_MS = 100;

export interface FileLabelsOptions {
  readonly labels: LabelStore;
  /** Records of files in it hold wherever it is. */
  readonly home?: string;
  /** Folders with documents of others, absolute. */
  readonly foreign: readonly string[];
  /**
   * Folders whose files people and programs edit in parts, beside agents. What was recorded of such a file stays in its
   * label for good: a change outside of Cortex seldom replaces all of it, and the words of an agent cannot be told from
   * others then. Folders in them whose name begins with a dot hold copies of their files.
   */
  readonly shared?: () => Promise<readonly string[]>;
  /** Where the long outputs of calls are. One that is not recorded was left by a crash: it can be anyone's. */
  readonly outputs?: string;
  /** The clock of the file system. */
  readonly fileClock?: () => number;
}

/** What a file holds, and who else than the owner wrote to it. */
export interface FileOrigin {
  readonly label: Label;
  readonly principals: readonly Principal[];
}

/** Whose work writes files. */
export interface Writer {
  readonly principal: Principal;
  /** To whom the turn speaks: what it writes is private to them. */
  readonly audience: string;
  /** Undefined: Cortex itself writes, between turns. */
  readonly turn: TurnId | undefined;
}

/** The work of a turn. */
export type TurnWriter = Writer & { readonly turn: TurnId };

export class FileLabels {
  readonly #labels: LabelStore;
  readonly #foreign: readonly string[];
  readonly #shared: () => Promise<readonly string[]>;
  readonly #outputs: string | undefined;
  readonly #fileClock: () => number;

  constructor({ labels, home, foreign, shared, outputs, fileClock = Date.now }: FileLabelsOptions) {
    this.#labels = home === undefined ? labels : byAbsolutePath(labels, home);
    this.#foreign = foreign;
    this.#shared = async () => Promise.all(((await shared?.()) ?? []).map(realOf));
    this.#outputs = outputs;
    this.#fileClock = fileClock;
  }

  /** The label of what a file holds. The owner's, if there is no such file. */
  async ofFile(path: string): Promise<Label> {
    return (await this.originOf(path)).label;
  }

  /** The label of what was read of a file. One that is gone since can have been anyone's, if anybody else writes at all. */
  async ofReadFile(path: string): Promise<Label> {
    const { label } = await this.originOf(path);
    const isGone = (await factsOf(path)) === undefined && !(await this.#labels.areEmpty());
    return isGone ? joinLabels(label, FOREIGN) : label;
  }

  /** The owner's, if there is no such file. */
  async originOf(path: string): Promise<FileOrigin> {
    const [facts, areEmpty] = await Promise.all([factsOf(path), this.#labels.areEmpty()]);
    if (facts === undefined) return originOf([OWNERS], []);
    const foreign = this.#isForeign(facts.real) ? [FOREIGN] : [];
    if (areEmpty) return originOf([OWNERS, ...foreign], []);
    const shared = (await this.#shared()).find((folder) => isPathInside(facts.real, folder));
    const copied =
      shared !== undefined && isCopy(facts.real, shared) ? await this.#labels.labelsUnder(shared) : [];
    const { lasting, records, isKnown } = await this.#recordsOf(facts, shared !== undefined);
    if (isKnown) return originOf(copied, [...lasting, ...records]);
    if (records.length > 0) return originOf([...copied, ...foreign], [...lasting, ...records]);
    return originOf([OWNERS, ...copied, ...foreign], [...lasting, ...(await this.#commandsOn(facts))]);
  }

  /** As `originOf`; of a file that is gone, what was recorded of it. */
  async lastOriginOf(path: string): Promise<FileOrigin> {
    if (await this.#labels.areEmpty()) return originOf([OWNERS], []);
    if ((await factsOf(path)) !== undefined) return this.originOf(path);
    const real = await placeOf(path);
    const records = await this.#labels.ofFile({ path: real, size: NO_SIZE });
    return originOf(
      [OWNERS],
      records.filter((record) => record.path === real),
    );
  }

  /**
   * The records that a file has its label from: those of its path, if they are of this content, else those of the same
   * content elsewhere. In a shared folder, all of its path last.
   */
  async #recordsOf(
    facts: FileFacts,
    isShared: boolean,
  ): Promise<{
    readonly lasting: readonly WrittenFile[];
    readonly records: readonly WrittenFile[];
    readonly isKnown: boolean;
  }> {
    const { real, size } = facts;
    const found = await this.#labels.ofFile({ path: real, size });
    const own = found.filter((record) => record.path === real);
    const lasting = isShared ? own : [];
    if (found.length === 0) return { lasting, records: [], isKnown: false };
    const hash = size > MAX_HASHED_BYTES ? undefined : await hashIfThere(real);
    const known = own.filter((record) => hash === undefined || record.sha256 === hash);
    if (known.length > 0) return { lasting, records: known, isKnown: true };
    const isCrowded = found.length >= MAX_PAGE && hash !== undefined;
    const same = isCrowded ? await this.#labels.ofFile({ path: real, size, sha256: hash }) : found;
    return { lasting, records: same.filter((record) => isOfContent(record, facts, hash)), isKnown: false };
  }

  /** The commands that can have changed a file since its content was known. */
  async #commandsOn({ real, size, bornMs, changedMs }: FileFacts): Promise<readonly LabelledCommand[]> {
    const own = await this.#labels.ofFile({ path: real, size });
    const knownMs = own.filter((record) => record.path === real && !isPart(record)).map(({ atMs }) => atMs);
    const commands = await this.#labels.commands({
      fromMs: Math.floor(Math.max(bornMs, ...knownMs)) - SLACK_MS,
      untilMs: Math.ceil(changedMs) + SLACK_MS,
    });
    return commands.filter(({ folders }) => folders.some((folder) => isPathInside(real, folder)));
  }

  /** The label of a shared file apart from the parts that were recorded one by one. */
  async ofRest(path: string): Promise<FileOrigin> {
    if (await this.#labels.areEmpty()) return originOf([OWNERS], []);
    const facts = await factsOf(path);
    if (facts === undefined) return originOf([OWNERS], []);
    const { lasting, records, isKnown } = await this.#recordsOf(facts, true);
    const whole = [...lasting, ...records].filter((record) => !isPart(record));
    const commands = isKnown || records.length > 0 ? [] : await this.#commandsOn(facts);
    return originOf([OWNERS], [...whole, ...commands]);
  }

  /**
   * Records that labelled text is about to become part of a shared file. `rest`: it can be any part of it.
   */
  async addPart(
    path: string,
    label: Label,
    { principal, turn }: Pick<Writer, "principal"> & Partial<Pick<Writer, "turn">>,
    kind: "part" | "rest" = "part",
  ): Promise<void> {
    if (isWithin(label, OWNERS)) return;
    const digest = createHash("sha256")
      .update(canonicalJson([labelJson(label), principal]))
      .digest("hex");
    await this.#labels.willWrite({
      path: await placeOf(path),
      sha256: `${kind}:${digest}`,
      size: kind === "part" ? PART_SIZE : NO_SIZE,
      label,
      principal,
      turn,
      atMs: Math.floor(this.#fileClock()),
    });
  }

  /** Before a program of ours changes a shared file: what else it holds keeps its label, there or where it is moved. */
  async keepRest(path: string, place = path): Promise<void> {
    if (await this.#labels.areEmpty()) return;
    const { label, principals } = await this.ofRest(path);
    const principal = principals[0] ?? OWNER_PRINCIPAL;
    await this.addPart(place, label, { principal }, "rest");
  }

  async ofFiles(paths: readonly string[]): Promise<Label> {
    return joinLabels(NO_LABEL, ...(await Promise.all(paths.map((path) => this.ofFile(path)))));
  }

  /** The joined label of everything in these folders. */
  async ofFolders(folders: readonly string[]): Promise<Label> {
    const reals = await Promise.all(folders.map(realOf));
    const areEmpty = await this.#labels.areEmpty();
    const [recorded, foreign, commands] = await Promise.all([
      areEmpty ? [] : Promise.all(reals.map((folder) => this.#recordedIn(folder))),
      Promise.all(this.#foreign.map(async (folder) => ({ folder, holds: await holdsFiles(folder) }))),
      areEmpty ? [] : this.#labels.commands({ fromMs: 0, untilMs: Math.ceil(this.#fileClock()) }),
    ]);
    const overlapping = (path: string): boolean =>
      reals.some((folder) => isPathInside(path, folder) || isPathInside(folder, path));
    return joinLabels(
      OWNERS,
      ...recorded.flat(),
      ...(foreign.some(({ folder, holds }) => holds && overlapping(folder)) ? [FOREIGN] : []),
      ...commands.filter((command) => command.folders.some(overlapping)).map(({ label }) => label),
    );
  }

  async #recordedIn(folder: string): Promise<readonly Label[]> {
    const records = await this.#labels.under(folder, { limit: MAX_RECORDS_CHECKED + 1 });
    if (records.length > MAX_RECORDS_CHECKED) return this.#labels.labelsUnder(folder);
    const paths = [...new Set(records.map(({ path }) => path))];
    return Promise.all(paths.map((path) => this.ofFile(path)));
  }

  /** What is recorded in these folders: a folder that was renamed has other paths, and files that look unchanged. */
  async #contentsIn(folders: readonly string[]): Promise<Contents> {
    const limit = MAX_FILES_SCANNED;
    const records = await Promise.all(folders.map((folder) => this.#labels.under(folder, { limit })));
    const all = records.flat();
    return {
      sizes: new Set(all.map(({ size }) => size)),
      hashes: new Set(all.map(({ sha256 }) => sha256)),
      paths: new Set(all.map(({ path }) => path)),
    };
  }

  /** Of a file as an agent wrote it. Nothing, if it is the owner's. */
  async ofFileIfLabelled(path: string): Promise<Label> {
    const label = await this.ofFile(path);
    return isWithin(label, OWNERS) ? NO_LABEL : label;
  }

  /** Records the label of a file that was just written. */
  async record(given: string, label: Label, { principal, turn }: Writer): Promise<void> {
    const path = await placeOf(given);
    const { size } = await statOf(path);
    const sha256 = await hashOf(path);
    const atMs = Math.floor(this.#fileClock());
    await this.#labels.willWrite({ path, sha256, size, label, principal, turn, atMs });
    await this.#labels.hasWritten(path, sha256);
  }

  /** Writes a file with a label. The record is there before the file is, and alone once it is. */
  async write(
    given: string,
    content: Buffer,
    label: Label,
    { principal, audience, turn }: Writer,
    write: () => Promise<void>,
  ): Promise<void> {
    const all = joinLabels(label, { ...NO_LABEL, private: [audience] });
    const path = await placeOf(given);
    if (isWithin(all, OWNERS)) {
      await write();
      const known = await this.#labels.ofFile({ path, size: content.length });
      if (known.some((record) => record.path === path)) await this.#labels.hasWritten(path);
      return;
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    const size = content.length;
    const atMs = Math.floor(this.#fileClock());
    await this.#labels.willWrite({ path, sha256, size, label: all, principal, turn, atMs });
    await write();
    await this.#labels.hasWritten(path, sha256);
  }

  /**
   * Runs a command that can write to these folders. Confined to them, what it changed is known afterwards; a command that
   * is not can have changed any file.
   */
  async run<T>(
    { folders, label, isConfined }: RunningCommand,
    { principal, audience, turn }: TurnWriter,
    run: () => Promise<T>,
  ): Promise<T> {
    const all = joinLabels(label, { ...NO_LABEL, private: [audience] });
    if (isWithin(all, OWNERS)) return run();
    const writable = isConfined ? await Promise.all(folders.map(realOf)) : ["/"];
    const startedAtMs = Math.floor(this.#fileClock()) - SLACK_MS;
    const id = randomUUID();
    await this.#labels.beginCommand({ id, folders: writable, label: all, principal, turn, startedAtMs });
    try {
      return await run();
    } finally {
      const changed = isConfined
        ? await changedSince(writable, startedAtMs, await this.#contentsIn(writable))
        : undefined;
      const atMs = Math.ceil(this.#fileClock());
      const files = changed?.map((file) => Object.assign(file, { label: all, principal, turn, atMs }));
      await this.#labels.endCommand(id, atMs + SLACK_MS, files);
    }
  }

  #isForeign(path: string): boolean {
    return [...this.#foreign, this.#outputs ?? []].flat().some((folder) => isPathInside(path, folder));
  }
}

/** Of a record that stands for the rest of a shared file, and of no file. */
const NO_SIZE = -1;
/** Of a record that stands for a part of a shared file. */
const PART_SIZE = -2;

function isPart({ size }: WrittenFile): boolean {
  return size === PART_SIZE;
}

/** Journals, snapshots and the repository of a shared folder. */
function isCopy(path: string, folder: string): boolean {
  return relative(folder, path)
    .split(sep)
    .some((name) => name.startsWith("."));
}

/**
 * Whether a record of another path is of this content. A short content can be in two files by chance, unless they have
 * the same name, as after a move of their folder, or one of them is known to have several.
 */
function isOfContent(
  record: WrittenFile,
  { real, size, links }: FileFacts,
  hash: string | undefined,
): boolean {
  if (record.path === real) return false;
  if (hash === undefined) return true; // too long for a hash: the size is all there is
  if (record.sha256 !== hash || size === 0) return false;
  return size >= MIN_MOVED_BYTES || links > 1 || basename(record.path) === basename(real);
}

function originOf(
  labels: readonly Label[],
  written: readonly { readonly label: Label; readonly principal: Principal }[],
): FileOrigin {
  const principals = written.map(({ principal }) => principal).filter((each) => each !== OWNER_PRINCIPAL);
  return {
    label: joinLabels(...labels, ...written.map(({ label }) => label)),
    principals: [...new Set(principals)],
  };
}

interface RunningCommand {
  readonly folders: readonly string[];
  readonly label: Label;
  readonly isConfined: boolean;
}

interface FileFacts {
  readonly real: string;
  readonly size: number;
  /** How many names it has. */
  readonly links: number;
  readonly bornMs: number;
  readonly changedMs: number;
}

/** Undefined: it does not exist, or is no file. */
async function factsOf(path: string): Promise<FileFacts | undefined> {
  try {
    const real = await realpath(path);
    const { size, links, birthtimeMs, ctimeMs, isFile } = await statOf(real);
    if (!isFile) return undefined;
    // Some file systems do not know when a file was made: then it may always have been there.
    const bornMs = birthtimeMs > 0 && birthtimeMs <= ctimeMs ? birthtimeMs : 0;
    return { real, size, links, bornMs, changedMs: ctimeMs };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

async function statOf(path: string) {
  const stats = await stat(path);
  const { size, nlink: links, birthtimeMs, ctimeMs } = stats;
  return { size, links, birthtimeMs, ctimeMs, isFile: stats.isFile() };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Undefined: it is gone, as an empty identity file is when the command that it was made for has ended. */
async function hashIfThere(path: string): Promise<string | undefined> {
  try {
    return await hashOf(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return resolve(path);
    throw error;
  }
}

/** Where a file is or will be: the file itself is no link. */
async function placeOf(path: string): Promise<string> {
  return join(await realOf(dirname(path)), basename(path));
}

async function holdsFiles(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length > 0;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES")) return false;
    throw error;
  }
}

type ChangedFile = Pick<WrittenFile, "path" | "sha256" | "size">;

interface Contents {
  readonly sizes: ReadonlySet<number>;
  readonly hashes: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/** The files that changed since then, or hold a known content at another path. Undefined: there are too many to tell. */
async function changedSince(
  folders: readonly string[],
  sinceMs: number,
  known: Contents,
): Promise<readonly ChangedFile[] | undefined> {
  const changed: ChangedFile[] = [];
  const open = [...folders];
  let left = MAX_FILES_SCANNED;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    for (const entry of entries ?? []) {
      if (left-- === 0) return undefined;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      if (!entry.isFile()) continue;
      const facts = await statOf(path).catch(() => undefined);
      if (facts === undefined) continue;
      const isChanged = facts.ctimeMs >= sinceMs;
      const isAlike = facts.size > 0 && known.sizes.has(facts.size) && !known.paths.has(path);
      if (!isChanged && !isAlike) continue;
      if (facts.size > MAX_HASHED_BYTES) return undefined;
      const sha256 = await hashOf(path).catch(() => undefined);
      if (sha256 !== undefined && (isChanged || known.hashes.has(sha256)))
        changed.push({ path, sha256, size: facts.size });
    }
  }
  return changed;
}
