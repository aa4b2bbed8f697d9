/** All tools that Cortex brings along, gathered from the folders that know the things. */
import type { Tool, ToolContext } from "../model/tool.ts";
import type { DelegationParts } from "../delegation/parts.ts";
import { createDelegationTools } from "../delegation/surface/tools.ts";
import { createMessageTool } from "../delivery/message-tool.ts";
import { createHookTools, type HookToolParts } from "../hooks/surface/tools.ts";
import { createRelayTools, type RelayToolParts } from "../relay/surface/tools.ts";
import { readWorker } from "../model/worker.ts";
import { searchLedger } from "../search/search.ts";
import type { Store } from "../store/store.ts";
import { createTeamTools, type TeamToolParts } from "../team/surface/tools.ts";
import { asWorker, setupOf } from "../turns/as-worker.ts";
import { skillsOf } from "../insight/context-view.ts";
import type { Settings } from "../config/settings.ts";

export interface ToolSources {
  readonly home: string;
  readonly settings: Pick<Settings, "config" | "variable">;
  readonly store: {
    readonly events: Pick<Store["events"], "search">;
    readonly outbox: Pick<Store["outbox"], "add">;
    readonly sessions: Pick<Store["sessions"], "get">;
  };
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
  readonly hooks: HookToolParts;
  readonly delegating: () => DelegationParts;
  readonly relaying: () => RelayToolParts;
  readonly teaming: () => TeamToolParts;
}

/** Of one hit: what `memory_search` shows of it. */
const HIT_LENGTH = 1_000;

export async function createTools(sources: ToolSources): Promise<Tool[]> {
  const { home, settings, store, channels, hooks, delegating, relaying, teaming } = sources;
  const [{ workspaceTools }, { askUserTool }, codeExec, memory, skill, webFetch, webSearch] =
    await Promise.all([
      import("../agents/tools/workspace-tools.ts"),
      import("../agents/tools/ask-user.ts"),
      import("../agents/tools/code-exec.ts"),
      import("../agents/tools/memory-search.ts"),
      import("../agents/tools/skill.ts"),
      import("../agents/tools/web-fetch.ts"),
      import("../agents/tools/web-search.ts"),
    ]);
  /** As the turn has them: a worker can have more plugins, and work elsewhere. */
  const skillsIn = async ({ session }: Pick<ToolContext, "session">) => {
    const found = (await store.sessions.get(session))!;
    const worker = readWorker(found.worker);
    const setup = asWorker(setupOf(settings.config(), found, worker), worker);
    return (await skillsOf(setup, home)).skills;
  };
  const endpoint = () => {
    const configured = settings.config().webSearch;
    if (configured === undefined) return undefined;
    const { url, apiKeyEnv, apiKeyHeader } = configured;
    return {
      url,
      apiKeyHeader,
      ...(apiKeyEnv === undefined
        ? {}
        : { apiKey: { variable: apiKeyEnv, value: settings.variable(apiKeyEnv) } }),
    };
  };
  return [
    ...workspaceTools,
    codeExec.createCodeExecTool({ node: process.execPath }),
    webFetch.createWebFetchTool(),
    webSearch.createWebSearchTool({ endpoint, fetch }),
    skill.createSkillTool(skillsIn),
    askUserTool,
    memory.createMemorySearchTool({
      search: (text, query) => searchLedger(store, text, { textLength: HIT_LENGTH, ...query }),
    }),
    createMessageTool({
      add: ({ session, epoch, run }: ToolContext, delivery) =>
        store.outbox.add({ session, epoch }, run, delivery),
      channels,
    }),
    ...createDelegationTools(delegating),
    ...createRelayTools(relaying),
    ...createTeamTools(teaming),
    ...createHookTools(hooks),
  ];
}
