/** All tools that Cortex brings along: its own, and those of its features. */
import type { Tool, ToolContext } from "../model/tool.ts";
import type { Feature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import type { OutletCan } from "../channels/outlet.ts";
import { attachmentsFolder } from "../config/home.ts";
import { createAttachTool } from "../delivery/attach-tool.ts";
import { createMessageTool } from "../delivery/message-tool.ts";
import { keepFile } from "../store/kept-files.ts";
import { readWorker } from "../model/worker.ts";
import type { Store } from "../store/store.ts";
import { asWorker, setupOf } from "../turns/setup.ts";
import type { PluginTrust } from "../personas/plugin-pins.ts";
import { skillsOf } from "../personas/skills.ts";
import type { Settings } from "../config/settings.ts";

/** What the core's own tools need. */
interface CoreToolPorts {
  readonly home: string;
  readonly settings: Pick<Settings, "config" | "variable">;
  readonly store: {
    readonly outbox: Pick<Store["outbox"], "add" | "get">;
    readonly sessions: Pick<Store["sessions"], "get">;
  };
  readonly agentFolders: PluginTrust["agentFolders"];
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
  /** What a channel can send. Undefined: unknown channel. */
  readonly can: (channel: string, account?: string) => OutletCan | undefined;
}

/** The core's tools and those of the features, in the order in which models see them. */
export async function createTools(
  core: CoreToolPorts,
  features: readonly Feature[],
  ports: () => Ports,
): Promise<Tool[]> {
  const ofFeatures = await Promise.all(
    features.flatMap(({ tools }) => tools?.(ports, core.settings.config) ?? []),
  );
  return [...(await createCoreTools(core)), ...ofFeatures.flat()];
}

async function createCoreTools({
  home,
  settings,
  store,
  agentFolders,
  channels,
  can,
}: CoreToolPorts): Promise<Tool[]> {
  const [{ workspaceTools }, { askUserTool }, { OutgoingFiles }, codeExec, skill, webFetch, webSearch] =
    await Promise.all([
      import("../agents/tools/workspace-tools.ts"),
      import("../agents/tools/ask-user.ts"),
      import("../agents/tools/outgoing-file.ts"),
      import("../agents/tools/code-exec.ts"),
      import("../agents/tools/skill.ts"),
      import("../agents/tools/web-fetch.ts"),
      import("../agents/tools/web-search.ts"),
    ]);
  /** As the turn has them: a worker can have more plugins, and work elsewhere. */
  const skillsIn = async ({ session }: Pick<ToolContext, "session">) => {
    const found = (await store.sessions.get(session))!;
    const worker = readWorker(found.worker);
    const config = settings.config();
    const setup = asWorker(setupOf(config, found, worker), worker);
    return (await skillsOf(setup, { home, config, agentFolders })).skills;
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
  const files = new OutgoingFiles((content) => keepFile(attachmentsFolder(home), content));
  return [
    ...workspaceTools,
    codeExec.createCodeExecTool({ node: process.execPath }),
    webFetch.createWebFetchTool(),
    webSearch.createWebSearchTool({ endpoint, fetch }),
    skill.createSkillTool(skillsIn),
    askUserTool,
    createMessageTool({
      add: ({ session, epoch, run }: ToolContext, delivery) =>
        store.outbox.add({ session, epoch }, run, delivery),
      has: async (id) => (await store.outbox.get(id)) !== undefined,
      channels,
      can,
      files,
    }),
    createAttachTool({ files, can }),
  ];
}
