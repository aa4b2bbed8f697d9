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
import { isAbsolute, join, relative, resolve, sep } from "node:path";

import { hasCode } from "../model/error-code.ts";
import type { TurnId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import { isWithin, joinLabels, type Label, NO_LABEL, OWNERS } from "../model/trust.ts";
import type { LabelStore, WrittenFile } from "../store/store.ts";

/** Documents of others: whose words they are is not known. */
export const FOREIGN: Label = { ...NO_LABEL, untrusted: ["document"] };

/** A longer file has the label of the last record of its path, whatever it holds now. */
const MAX_HASHED_BYTES = 256 * 1024 * 1024;
/** A shorter text can be in two files by chance. */
const MIN_MOVED_BYTES = 32;
/** With more records in a folder, all of them count, also those of files that are gone. */
const MAX_RECORDS_CHECKED = 200;
/** With more files, a command stays recorded instead of the files that it changed. */
const MAX_FILES_SCANNED = 20_000;
/** Clocks of file systems run behind by some milliseconds. */
const SLACK_MS = 100;

export interface FileLabelsOptions {
  readonly labels: LabelStore;
  /** Folders with documents of others, absolute. */
  readonly foreign: readonly string[];
  /** Where the long outputs of calls are. One that is not recorded was left by a crash: it can be anyone's. */
  readonly outputs?: string;
  /** The clock of the file system. */
  readonly fileClock?: () => number;
}

/** Whose work writes files. */
export interface Writer {
  readonly principal: Principal;
  /** To whom the turn speaks: what it writes is private to them. */
  readonly audience: string;
  readonly turn: TurnId;
}

export class FileLabels {
  readonly #labels: LabelStore;
  readonly #foreign: readonly string[];
  readonly #outputs: string | undefined;
  readonly #fileClock: () => number;

  constructor({ labels, foreign, outputs, fileClock = Date.now }: FileLabelsOptions) {
    this.#labels = labels;
    this.#foreign = foreign;
    this.#outputs = outputs;
    this.#fileClock = fileClock;
  }

  /** The label of what a file holds. The owner's, if there is no such file. */
  async ofFile(path: string): Promise<Label> {
    const [facts, areEmpty] = await Promise.all([factsOf(path), this.#labels.areEmpty()]);
    if (facts === undefined) return OWNERS;
    const { real, size, bornMs, changedMs } = facts;
    const foreign = this.#isForeign(real) ? [FOREIGN] : [];
    if (areEmpty) return joinLabels(OWNERS, ...foreign);
    const records = await this.#labels.ofFile({ path: real, size });
    const own = records.filter((record) => record.path === real);
    if (records.length > 0) {
      const hash = size > MAX_HASHED_BYTES ? undefined : await hashOf(real);
      const known = own.filter(({ sha256 }) => hash === undefined || sha256 === hash);
      if (known.length > 0) return joinLabels(...known.map(({ label }) => label));
      const moved = size < MIN_MOVED_BYTES ? [] : records.filter(({ sha256 }) => sha256 === hash);
      if (moved.length > 0) return joinLabels(...moved.map(({ label }) => label), ...foreign);
    }
    const lastKnownMs = Math.max(bornMs, ...own.map(({ atMs }) => atMs));
    const commands = await this.#labels.commands({
      fromMs: Math.floor(lastKnownMs) - SLACK_MS,
      untilMs: Math.ceil(changedMs) + SLACK_MS,
    });
    const writers = commands.filter(({ folders }) => folders.some((folder) => isInside(real, folder)));
    return joinLabels(OWNERS, ...foreign, ...writers.map(({ label }) => label));
  }

  async ofFiles(paths: readonly string[]): Promise<Label> {
    return joinLabels(NO_LABEL, ...(await Promise.all(paths.map((path) => this.ofFile(path)))));
  }

  /** The joined label of everything in these folders. */
  async ofFolders(folders: readonly string[]): Promise<Label> {
    const reals = await Promise.all(folders.map(realOf));
    const [recorded, foreign, commands] = await Promise.all([
      Promise.all(reals.map((folder) => this.#recordedIn(folder))),
      Promise.all(this.#foreign.map(async (folder) => ({ folder, holds: await holdsFiles(folder) }))),
      this.#labels.commands({ fromMs: 0, untilMs: Math.ceil(this.#fileClock()) }),
    ]);
    const overlapping = (path: string): boolean =>
      reals.some((folder) => isInside(path, folder) || isInside(folder, path));
    return joinLabels(
      OWNERS,
      ...recorded.flat(),
      ...(foreign.some(({ folder, holds }) => holds && overlapping(folder)) ? [FOREIGN] : []),
      ...commands.filter((command) => command.folders.some(overlapping)).map(({ label }) => label),
    );
  }

  async #recordedIn(folder: string): Promise<readonly Label[]> {
    const records = await this.#labels.under(folder, { limit: MAX_RECORDS_CHECKED + 1 });
    if (records.length > MAX_RECORDS_CHECKED) {
      const all = await this.#labels.under(folder, { limit: 100 * MAX_RECORDS_CHECKED });
      return all.map(({ label }) => label);
    }
    const paths = [...new Set(records.map(({ path }) => path))];
    return Promise.all(paths.map((path) => this.ofFile(path)));
  }

  /** Of a file as an agent wrote it. Nothing, if it is the owner's. */
  async ofFileIfLabelled(path: string): Promise<Label> {
    const label = await this.ofFile(path);
    return isWithin(label, OWNERS) ? NO_LABEL : label;
  }

  /** Records the label of a file that was just written. */
  async record(path: string, label: Label, { principal, turn }: Writer): Promise<void> {
    const { size } = await statOf(path);
    const sha256 = await hashOf(path);
    const atMs = Math.floor(this.#fileClock());
    await this.#labels.willWrite({ path, sha256, size, label, principal, turn, atMs });
    await this.#labels.hasWritten(path, sha256);
  }

  /** Writes a file with a label. The record is there before the file is, and alone once it is. */
  async write(
    path: string,
    content: Buffer,
    label: Label,
    { principal, audience, turn }: Writer,
    write: () => Promise<void>,
  ): Promise<void> {
    const all = joinLabels(label, { ...NO_LABEL, private: [audience] });
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
    { principal, audience, turn }: Writer,
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
      const changed = isConfined ? await changedSince(writable, startedAtMs) : undefined;
      const atMs = Math.ceil(this.#fileClock());
      const files = changed?.map((file) => Object.assign(file, { label: all, principal, turn, atMs }));
      await this.#labels.endCommand(id, atMs + SLACK_MS, files);
    }
  }

  #isForeign(path: string): boolean {
    return [...this.#foreign, this.#outputs ?? []].flat().some((folder) => isInside(path, folder));
  }
}

interface RunningCommand {
  readonly folders: readonly string[];
  readonly label: Label;
  readonly isConfined: boolean;
}

interface FileFacts {
  readonly real: string;
  readonly size: number;
  readonly bornMs: number;
  readonly changedMs: number;
}

/** Undefined: it does not exist, or is no file. */
async function factsOf(path: string): Promise<FileFacts | undefined> {
  try {
    const real = await realpath(path);
    const { size, birthtimeMs, ctimeMs, isFile } = await statOf(real);
    if (!isFile) return undefined;
    // Some file systems do not know when a file was made: then it may always have been there.
    const bornMs = birthtimeMs > 0 && birthtimeMs <= ctimeMs ? birthtimeMs : 0;
    return { real, size, bornMs, changedMs: ctimeMs };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

async function statOf(path: string) {
  const stats = await stat(path);
  const { size, birthtimeMs, ctimeMs } = stats;
  return { size, birthtimeMs, ctimeMs, isFile: stats.isFile() };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return resolve(path);
    throw error;
  }
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

/** The files that changed since then. Undefined: there are too many to tell. */
async function changedSince(
  folders: readonly string[],
  sinceMs: number,
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
      if (facts === undefined || facts.ctimeMs < sinceMs) continue;
      if (facts.size > MAX_HASHED_BYTES) return undefined;
      const sha256 = await hashOf(path).catch(() => undefined);
      if (sha256 !== undefined) changed.push({ path, sha256, size: facts.size });
    }
  }
  return changed;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
