/** Checks how much of its disk space the home and each workspace take. */
import type { Config } from "../config/config.ts";
import { type Check, ok, warn } from "../feature/check.ts";
import { measureFolder } from "../turns/folder-size.ts";
import { describeQuota, foldersApart, hintFor, quotaUse } from "../turns/quotas.ts";

export async function checkQuotas(home: string, config: Config): Promise<Check[]> {
  const workspaces = new Set(Object.values(config.agents).map(({ workspace }) => workspace));
  const uses = await Promise.all([
    useOf("home", home, config, foldersApart(home, config)),
    ...[...workspaces].map((path) => useOf("workspace", path, config)),
  ]);
  const problems = uses.filter(({ state }) => state !== "ok");
  if (problems.length === 0) return [ok("quota", "enough room in the home and in all workspaces")];
  return problems.map((use) => warn("quota", describeQuota(use), hintFor(use)));
}

async function useOf(kind: "home" | "workspace", path: string, { quota }: Config, except?: string[]) {
  return quotaUse({ kind, path, usedBytes: await measureFolder(path, except) }, quota);
}
