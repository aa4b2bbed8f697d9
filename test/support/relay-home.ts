import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Folders } from "../../src/config/config.ts";
import { readRelayConfig } from "../../src/relay/templates/read.ts";
import type { RelayConfig } from "../../src/relay/templates/snapshot.ts";
import { temporaryFolder } from "./temporary.ts";

export interface RelayHome extends Disposable {
  readonly folders: Folders;
  write(path: string, content: unknown): void;
  read(): Promise<RelayConfig>;
}

export const PROFILES = ["claude-sonnet", "claude-haiku", "offline"];

/** A home with these files, each by its path: texts as they are, everything else as JSON. A path that ends in / is a folder. */
export function relayHome(files: Readonly<Record<string, unknown>> = {}): RelayHome {
  const { path: home, [Symbol.dispose]: dispose } = temporaryFolder();
  const folders = { home, config: join(home, "config"), user: join(home, "user") };
  const write = (path: string, content: unknown): void => {
    const file = join(home, path);
    mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true });
    if (path.endsWith("/")) return;
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  return {
    folders,
    write,
    read: () => readRelayConfig(folders, { profiles: PROFILES }),
    [Symbol.dispose]: dispose,
  };
}

/** The files of the documentation of the original, to which the agent is added that they name and do not show. */
export const SEED_FILES: Readonly<Record<string, unknown>> = {
  "config/thread-templates.json": `{
  "agents": {
    "planner": {
      "description": "Plans the research approach",
      "profile": "claude-sonnet",
      "persistSession": false,
      "directive": "You are a research planner. Break down problems into testable hypotheses.",
      "promptTemplate": "file:planner-prompt.md",
      "pluginDirs": ["plugins/cortex-common", "plugins/cortex-surveyor"],
      "tools": "Agent,AskUserQuestion,Bash,Read,Grep,Glob,Write,Edit,WebSearch,WebFetch,Skill"
    },
    "coder": {
      "profile": "claude-sonnet",
      "persistSession": true,
      "pluginDirs": ["plugins/cortex-coder"],
      "stages": {
        "implement": {
          "promptTemplate": "You are implementing the plan. Write code to {{artifactPath}}.",
          "description": "Write the implementation"
        },
        "review": {
          "promptTemplate": "You are reviewing the code in {{artifactPath}}. Check for correctness.",
          "continuesSession": true,
          "description": "Review the implementation"
        }
      },
      "entryStage": "implement"
    },
    "reviewer": {
      "profile": "__active__",
      "persistSession": false,
      "promptTemplate": "Review {{artifactPath}}."
    }
  },
  "templates": {
    "coder-review": {
      "description": "Implement a feature then review it",
      "agents": ["planner", "coder", "reviewer"],
      "transitions": [
        {"from": "planner", "to": "coder:implement", "condition": {"type": "always"}},
        {"from": "coder:implement", "to": "coder:review", "condition": {"type": "always"}},
        {"from": "coder:review", "to": "reviewer", "condition": {"type": "always"}}
      ],
      "entryAgent": "planner",
      "maxTotalSteps": 10,
      "maxTotalCostUsd": 5.00,
      "hooks": {
        "onEnd": {
          "command": "node hooks/post-task-hook.mjs",
          "timeout": 30000
        }
      }
    }
  }
}
`,
  "prompts/promptTemplates/planner-prompt.md": "Plan: {{input}}",
  "plugins/cortex-common/": "",
  "plugins/cortex-surveyor/": "",
  "plugins/cortex-coder/": "",
};
