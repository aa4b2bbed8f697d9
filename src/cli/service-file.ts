/**
 * The files by which systemd and launchd know of Cortex. They hold no secret: keys are in `config/.env` of the home.
 * Their first lines say who wrote them, so that nothing of anybody else's is replaced or removed.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";

import { REFUSES_TO_START } from "../feature/command.ts";

/** In every file of ours. */
export const MARK = "Written by `cortex service install`";

export interface ServiceDefinition {
  readonly platform: "linux" | "darwin";
  readonly home: string;
  /** Whether it is the home that is used where none is named. */
  readonly isDefaultHome: boolean;
  /** Of the user. */
  readonly userFolder: string;
  /** Where the user's configuration is, if not in `.config`. */
  readonly configFolder: string | undefined;
  /** Node, and our program. */
  readonly program: readonly string[];
  /** For the commands of agents. */
  readonly path: string;
}

export interface ServiceFile {
  /** As the service manager knows it. */
  readonly name: string;
  readonly path: string;
  readonly content: string;
}

export function serviceFile(parts: ServiceDefinition): ServiceFile {
  const { platform, userFolder, configFolder = join(userFolder, ".config") } = parts;
  const name = serviceName(parts);
  switch (platform) {
    case "linux": {
      const unit = `${name}.service`;
      return { name: unit, path: join(configFolder, "systemd", "user", unit), content: systemdUnit(parts) };
    }
    case "darwin": {
      const path = join(userFolder, "Library", "LaunchAgents", `${name}.plist`);
      return { name, path, content: launchdPlist(parts, name) };
    }
  }
}

/** Each home has a service of its own. */
function serviceName({ home, isDefaultHome }: ServiceDefinition): string {
  if (isDefaultHome) return "cortex";
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 6);
  return `cortex-${
    basename(home)
      .replaceAll(/[^a-zA-Z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "home"
  }-${hash}`;
}

/** It stops as Ctrl-C does: turns are suspended and go on at the next start, which takes longer than usual programs do. */
const STOP_SECONDS = 60;
const RESTART_SECONDS = 3;

function systemdUnit({ home, program, path }: ServiceDefinition): string {
  const start = [...program, "up", "--quiet", "--home", home]
    .map((word) => systemdWord(word.replaceAll("$", "$$$$"))) // in commands, dollars mean variables
    .join(" ");
  return `# ${MARK}; \`cortex service uninstall\` removes it.
[Unit]
Description=Cortex, a switchboard for AI agents (${systemdText(home)})

[Service]
ExecStart=${start}
Environment=${systemdWord(`PATH=${path}`)}
Restart=on-failure
RestartSec=${RESTART_SECONDS}
# It refuses to start until somebody changes something: trying again is of no use.
RestartPreventExitStatus=${REFUSES_TO_START}
KillMode=mixed
TimeoutStopSec=${STOP_SECONDS}
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** Quoted as systemd reads it. */
function systemdWord(word: string): string {
  return `"${systemdText(word).replaceAll(/["\\]/g, "\\$&")}"`;
}

/** Percent signs mean something to systemd, and a line ends what is said. */
function systemdText(text: string): string {
  return text.replaceAll("%", "%%").replaceAll(/[\n\r]/g, " ");
}

/** launchd restarts after every failure and knows no code that means never: it waits between two starts instead. */
const LAUNCHD_WAIT_SECONDS = 30;

function launchdPlist({ home, program, path }: ServiceDefinition, label: string): string {
  const words = [...program, "up", "--quiet", "--home", home];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK}; \`cortex service uninstall\` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${xml(path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${LAUNCHD_WAIT_SECONDS}</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>${xml(join(home, "logs", "service.log"))}</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
