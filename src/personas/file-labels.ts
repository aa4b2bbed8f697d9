/**
 * The labels of files. What an agent writes has the label of its session; what a command can have written has that of
 * the command. A file that changed otherwise is the owner's: they, or their programs, changed it.
 *
 * The names of folders and the targets of links are words, too, and are recorded like files.
 *
 * Only labels that say more than "the owner's" are recorded, so a home in which nobody else has a say records nothing,
 * and reading there costs one look-up.
 */
import { createHash, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, relative, sep } from "node:path";

import type { TurnId } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import { OWNER_PRINCIPAL, type Principal } from "../model/principal.ts";
import { isWithin, joinLabels, type Label, labelJson, NO_LABEL, OWNERS } from "../model/trust.ts";
import { type LabelledCommand, type LabelStore, MAX_PAGE, type WrittenFile } from "../store/store.ts";
import {
  factsOf,
  type FileFacts,
  hashIfThere,
  hashOf,
  missingFolders,
  nameWords,
  namesIn,
  placeOf,
  realOf,
  spellingsOf,
  wordsAt,
} from "./file-facts.ts";
import { byAbsolutePath, isPathInside } from "./home-paths.ts";
import {
  changedSince,
  type Contents,
  copiesIn,
  ENTRY_SIZE,
  folderPlaces,
  MAX_FILES_SCANNED,
  MAX_HASHED_BYTES,
} from "./scan-folders.ts";

/** Documents of others: whose words they are is not known. */
export const FOREIGN: Label = { ...NO_LABEL, untrusted: ["document"] };

/** A shorter text can be in two files by chance. */
const MIN_MOVED_BYTES = 32;
/** With more records in a folder, all of them count, also those of files that are gone. */
export const MAX_RECORDS_CHECKED = 200;
/** With more records in all, none is looked for elsewhere: all of them count everywhere. */
const MAX_RECORDS_COMPARED = 100_000;
/** Clocks of file systems run behind by some milliseconds. */
const SLACK_MS = 100;
/** A turn looks at many files at once: for this long, folders are taken to be where they were. */
const PLACES_KEPT_MS = 100;

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
  #places: { readonly atMs: number; readonly documents: Promise<readonly string[]> } | undefined;

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

  /** The owner's, if there is no such file. Of a folder or a link, also whose words its name or target is. */
  async originOf(path: string): Promise<FileOrigin> {
    const [facts, place, folders, areEmpty] = await Promise.all([
      factsOf(path),
      placeOf(path),
      this.#foreignFolders(),
      this.#labels.areEmpty(),
    ]);
    const onTheWay = place !== facts?.real && isInAny(place, folders) ? [FOREIGN] : [];
    const foreign = facts !== undefined && isInAny(facts.real, folders) ? [FOREIGN] : [];
    if (areEmpty) return originOf([OWNERS, ...onTheWay, ...foreign], []);
    const words = await this.#recordsOfWords(place);
    if (facts === undefined) return originOf([OWNERS, ...onTheWay], words);
    const shared = (await this.#shared()).find((folder) => isPathInside(facts.real, folder));
    const copied =
      shared !== undefined && isCopy(facts.real, shared) ? await this.#labels.labelsUnder(shared) : [];
    const { lasting, records, isKnown } = await this.#recordsOf(facts, shared !== undefined);
    const written = [...words, ...lasting, ...records];
    if (isKnown) return originOf([...copied, ...onTheWay], written);
    const labels = [...copied, ...onTheWay, ...foreign];
    if (records.length > 0) return originOf(labels, written);
    return originOf([OWNERS, ...labels], [...written, ...(await this.#commandsOn(facts))]);
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

  /** Who chose the name of a folder, or where a link leads: records of this path, or of the same words elsewhere. */
  async #recordsOfWords(place: string): Promise<readonly WrittenFile[]> {
    const words = await wordsAt(place);
    if (words === undefined) return [];
    const { sha256, bytes } = words;
    const found = await this.#labels.ofFile({ path: place, size: ENTRY_SIZE, sha256 });
    const name = basename(place);
    const isLong = (path: string): boolean =>
      bytes >= MIN_MOVED_BYTES || (basename(path) === name && Buffer.byteLength(name) >= MIN_MOVED_BYTES);
    return found.filter(
      (record) => record.sha256 === sha256 && (record.path === place || isLong(record.path)),
    );
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
    const [reals, foreign, areEmpty] = await Promise.all([
      Promise.all(folders.map(realOf)),
      this.#documentFolders(),
      this.#labels.areEmpty(),
    ]);
    const overlapping = (path: string): boolean =>
      reals.some((folder) => isPathInside(path, folder) || isPathInside(folder, path));
    const holding = await Promise.all(
      foreign.filter(overlapping).map(async (folder) => (await namesIn(folder)).length > 0),
    );
    const own = joinLabels(OWNERS, ...(holding.includes(true) ? [FOREIGN] : []));
    if (areEmpty) return own;
    const [recorded, commands] = await Promise.all([
      Promise.all(reals.map((folder) => this.#recordedIn(folder))),
      this.#labels.commands({ fromMs: 0, untilMs: Math.ceil(this.#fileClock()) }),
    ]);
    const ran = commands.filter((command) => command.folders.some(overlapping)).map(({ label }) => label);
    const known = joinLabels(own, ...recorded.flat(), ...ran);
    return this.#withBrought(reals, known);
  }

  async #recordedIn(folder: string): Promise<readonly Label[]> {
    const records = await this.#labels.under(folder, { limit: MAX_RECORDS_CHECKED + 1 });
    if (records.length > MAX_RECORDS_CHECKED) return this.#labels.labelsUnder(folder);
    const paths = [...new Set(records.map(({ path }) => path))];
    return Promise.all(paths.map((path) => this.ofFile(path)));
  }

  /**
   * The label of these folders together with what people have moved or copied into them, which is recorded elsewhere. With
   * too many files to look at, all counts that is not where it was recorded.
   */
  async #withBrought(folders: readonly string[], label: Label): Promise<Label> {
    const others = (await this.#labels.labelsUnder("/")).filter((other) => !isWithin(other, label));
    if (others.length === 0) return label;
    const records = await this.#labels.under("/", { limit: MAX_RECORDS_COMPARED + 1 });
    if (records.length > MAX_RECORDS_COMPARED) return joinLabels(label, ...others);
    const wanted = records.filter(
      (record) => (record.size > 0 || record.size === ENTRY_SIZE) && !isWithin(record.label, label),
    );
    if (wanted.length === 0) return label;
    const most = withLabelsOf(label, wanted);
    const copies = await copiesIn(folders, contentsOf(wanted));
    if (copies === undefined)
      return wanted.length > MAX_RECORDS_CHECKED ? most : withLabelsOf(label, await thoseThatLeft(wanted));
    let joined = label;
    for (const path of copies) {
      if (isWithin(most, joined)) break;
      joined = joinLabels(joined, await this.ofFile(path));
    }
    return joined;
  }

  /** What is recorded in these folders: a folder that was renamed has other paths, and files that look unchanged. */
  async #contentsIn(folders: readonly string[]): Promise<Contents> {
    const limit = MAX_FILES_SCANNED;
    const records = await Promise.all(folders.map((folder) => this.#labels.under(folder, { limit })));
    return contentsOf(records.flat());
  }

  /** Of a file as an agent wrote it. Nothing, if it is the owner's. */
  async ofFileIfLabelled(path: string): Promise<Label> {
    const label = await this.ofFile(path);
    return isWithin(label, OWNERS) ? NO_LABEL : label;
  }

  /** Records the label of a file that was just written. */
  async record(given: string, label: Label, { principal, turn }: Writer): Promise<void> {
    const path = await placeOf(given);
    const { size } = await stat(path);
    const sha256 = await hashOf(path);
    const atMs = Math.floor(this.#fileClock());
    await this.#labels.willWrite({ path, sha256, size, label, principal, turn, atMs });
    await this.#labels.hasWritten(path, sha256);
  }

  /**
   * Writes a file with a label. The record is there before the file is, and alone once it is. So are those of the folders
   * that are made for it.
   */
  async write(
    given: string,
    content: Buffer,
    label: Label,
    { principal, audience, turn }: Writer,
    write: () => Promise<void>,
  ): Promise<void> {
    const all = joinLabels(label, { ...NO_LABEL, private: [audience] });
    const path = await placeOf(given);
    const made = await missingFolders(path);
    if (isWithin(all, OWNERS)) {
      await write();
      const known = await this.#labels.ofFile({ path, size: content.length });
      const old = known.some((record) => record.path === path) ? [path] : [];
      if (made.length + old.length > 0 && !(await this.#labels.areEmpty()))
        for (const each of [...made, ...old]) await this.#labels.hasWritten(each);
      return;
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    const atMs = Math.floor(this.#fileClock());
    const file = { path, sha256, size: content.length, label: all, principal, turn, atMs };
    for (const folder of made) {
      const words = nameWords(Buffer.from(basename(folder)));
      await this.#labels.willWrite({ ...file, path: folder, sha256: words.sha256, size: ENTRY_SIZE });
    }
    await this.#labels.willWrite(file);
    try {
      await write();
    } catch (error) {
      // It says nothing about when the content was known that the file has.
      await this.#labels.willWrite({ ...file, atMs: 0 });
      throw error;
    }
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
    const changes = isConfined ? await this.#watch(writable) : async () => undefined;
    const startedAtMs = Math.floor(this.#fileClock()) - SLACK_MS;
    const id = randomUUID();
    await this.#labels.beginCommand({ id, folders: writable, label: all, principal, turn, startedAtMs });
    try {
      return await run();
    } finally {
      const changed = await changes(startedAtMs);
      const atMs = Math.ceil(this.#fileClock());
      const files = changed?.map((file) => Object.assign(file, { label: all, principal, turn, atMs }));
      await this.#labels.endCommand(id, atMs + SLACK_MS, files);
    }
  }

  /** Remembers how folders are. Returns a function that finds what was changed in them since a time after that. */
  async #watch(folders: readonly string[]) {
    const [before, foreign] = await Promise.all([folderPlaces(folders), this.#foreignFolders()]);
    return async (sinceMs: number) => {
      this.#places = undefined;
      const [known, foreignNow, shared] = await Promise.all([
        this.#contentsIn(folders),
        this.#foreignFolders(),
        this.#shared(),
      ]);
      const lostPlace = (was: string, is: string): boolean =>
        (isInAny(was, foreign) && !isInAny(is, foreignNow)) || (was !== is && isInAny(was, shared));
      return changedSince(folders, { sinceMs, before, known, lostPlace });
    };
  }

  /** Where documents of others are. */
  #documentFolders(): Promise<readonly string[]> {
    const atMs = this.#fileClock();
    if (this.#places === undefined || Math.abs(atMs - this.#places.atMs) > PLACES_KEPT_MS)
      this.#places = { atMs, documents: findFolders(this.#foreign) };
    return this.#places.documents;
  }

  /** Where what is not recorded is not the owner's. */
  async #foreignFolders(): Promise<readonly string[]> {
    const outputs = this.#outputs === undefined ? [] : [await realOf(this.#outputs)];
    return [...(await this.#documentFolders()), ...outputs];
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

function isInAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isPathInside(path, folder));
}

/** Where folders really are, whether links or not, and however their names are spelled. */
async function findFolders(folders: readonly string[]): Promise<readonly string[]> {
  const spelled = await Promise.all(folders.map(spellingsOf));
  return Promise.all(spelled.flat().map(realOf));
}

function contentsOf(records: readonly WrittenFile[]): Contents {
  return {
    sizes: new Set(records.map(({ size }) => size)),
    hashes: new Set(records.map(({ sha256 }) => sha256)),
    paths: new Set(records.map(({ path }) => path)),
  };
}

function withLabelsOf(label: Label, records: readonly WrittenFile[]): Label {
  return records.reduce(
    (all, record) => (isWithin(record.label, all) ? all : joinLabels(all, record.label)),
    label,
  );
}

/** What is perhaps at another place now than where it was recorded. */
async function thoseThatLeft(records: readonly WrittenFile[]): Promise<readonly WrittenFile[]> {
  const left = await Promise.all(records.map(hasLeft));
  return records.filter((_, at) => left[at]);
}

async function hasLeft({ path, sha256, size }: WrittenFile): Promise<boolean> {
  const [facts, words] = await Promise.all([factsOf(path), wordsAt(path)]);
  return size === ENTRY_SIZE ? words?.sha256 !== sha256 : facts?.size !== size;
}
