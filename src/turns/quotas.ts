/** How much the home and the workspaces of agents may hold: near the limit, the owner is warned; at it, agents write nothing. */
import { join } from "node:path";

import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { FolderSize, type FolderSizeOptions } from "./folder-size.ts";

/** The space that a folder takes, with its limit. */
export interface QuotaUse {
  readonly kind: "home" | "workspace";
  readonly path: string;
  readonly usedBytes: number;
  readonly limitBytes: number;
  readonly state: "ok" | "low" | "full";
}

type QuotaConfig = Pick<Config, "quota"> & {
  readonly agents: Readonly<Record<string, Pick<Config["agents"][keyof Config["agents"]], "workspace">>>;
};

interface QuotaPorts {
  readonly home: string;
  readonly config: () => QuotaConfig;
  readonly log: (line: string) => void;
  readonly pace?: Omit<FolderSizeOptions, "except">;
}

const MB = 1024 ** 2;

export class Quotas {
  readonly #ports: QuotaPorts;
  readonly #home: FolderSize;
  readonly #workspaces = new Map<string, FolderSize>();
  /** What the log was told last, by path. */
  readonly #told = new Map<string, QuotaUse["state"]>();

  constructor(ports: QuotaPorts) {
    const { home, config, pace } = ports;
    this.#ports = ports;
    this.#home = new FolderSize(home, { except: () => foldersApart(home, config()), ...pace });
  }

  /** Throws `quota_exceeded` if nothing more may be written. */
  async check(workspace: string): Promise<void> {
    const full = await this.#findFull(workspace);
    if (full === undefined) return;
    throw new CortexError("quota_exceeded", describeQuota(full), { hint: hintFor(full) });
  }

  /** Why a command must end, as sentences. */
  async exceeded(workspace: string): Promise<string | undefined> {
    const full = await this.#findFull(workspace);
    return full && `Command killed. ${describeQuota(full)}. ${hintFor(full)}`;
  }

  /** Of the home, and of the workspaces of all configured agents. Sizes that are not known yet are left out. */
  async uses(): Promise<QuotaUse[]> {
    const paths = new Set(Object.values(this.#ports.config().agents).map(({ workspace }) => workspace));
    const uses = await Promise.all([this.#useOfHome(), ...[...paths].map((path) => this.#useOf(path))]);
    return uses.filter((use) => use !== undefined);
  }

  async #findFull(workspace: string): Promise<QuotaUse | undefined> {
    const uses = await Promise.all([this.#useOf(workspace), this.#useOfHome()]);
    return uses.find((use) => use?.state === "full");
  }

  async #useOf(workspace: string): Promise<QuotaUse | undefined> {
    const size = this.#workspaces.get(workspace) ?? new FolderSize(workspace, this.#ports.pace);
    this.#workspaces.set(workspace, size);
    return this.#judge("workspace", workspace, await size.bytes());
  }

  async #useOfHome(): Promise<QuotaUse | undefined> {
    return this.#judge("home", this.#ports.home, await this.#home.bytes());
  }

  #judge(kind: QuotaUse["kind"], path: string, usedBytes: number | undefined): QuotaUse | undefined {
    if (usedBytes === undefined) return undefined;
    const use = quotaUse({ kind, path, usedBytes }, this.#ports.config().quota);
    if (use.state !== "ok" && use.state !== this.#told.get(path))
      this.#ports.log(`${describeQuota(use)}. ${hintFor(use)}`);
    this.#told.set(path, use.state);
    return use;
  }
}

/** Folders in the home that have their own limit: the workspaces. */
export function foldersApart(home: string, { agents }: QuotaConfig): string[] {
  return [join(home, "workspaces"), ...Object.values(agents).map(({ workspace }) => workspace)];
}

export function quotaUse(
  { kind, path, usedBytes }: Pick<QuotaUse, "kind" | "path" | "usedBytes">,
  { homeMb, workspaceMb, warnAt }: Config["quota"],
): QuotaUse {
  const limitBytes = (kind === "home" ? homeMb : workspaceMb) * MB;
  const state = usedBytes >= limitBytes ? "full" : usedBytes >= limitBytes * warnAt ? "low" : "ok";
  return { kind, path, usedBytes, limitBytes, state };
}

/** A sentence without its full stop. */
export function describeQuota({ kind, path, usedBytes, limitBytes, state }: QuotaUse): string {
  const used = `${Math.round(usedBytes / MB)} of ${limitBytes / MB} MB used`;
  const what = kind === "home" ? "home of Cortex" : "workspace";
  return `The ${what} ${path} is ${state === "full" ? "full" : "almost full"}: ${used}`;
}

export function hintFor({ kind }: Pick<QuotaUse, "kind">): string {
  return kind === "home"
    ? "Remove old records with `cortex prune`, or raise `quota.homeMb` in cortex.json."
    : "Delete unneeded files there, or raise `quota.workspaceMb` in cortex.json.";
}
