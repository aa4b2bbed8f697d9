/**
 * The unit file for systemd and the property list for launchd. They contain no secrets: keys are in `config/.env` of the
 * home. A mark at the top identifies our files, so that no other file is replaced or removed.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";

import { REFUSES_TO_START } from "../feature/command.ts";

/** Marks our files. */
export const MARK = "Written by `cortex service install`";

export interface ServiceDefinition {
  readonly platform: "linux" | "darwin";
  readonly home: string;
  /** Whether this is the default home. */
  readonly isDefaultHome: boolean;
  /** The user's home directory. */
  readonly userFolder: string;
  /** XDG_CONFIG_HOME, if set. */
  readonly configFolder: string | undefined;
  /** The paths of Node and of our program. */
  readonly program: readonly string[];
  /** The PATH for commands that agents run. */
  readonly path: string;
}

export interface ServiceFile {
  /** The name in the service manager. */
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

/** One service per home. */
function serviceName({ home, isDefaultHome }: ServiceDefinition): string {
  if (isDefaultHome) return "cortex";
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 6);
  return `cortex-${
    basename(home)
      .replaceAll(/[^a-zA-Z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "home"
  }-${hash}`;
}

/** Stopping suspends running turns, which takes longer than stopping most programs. */
const STOP_SECONDS = 60;
const RESTART_SECONDS = 3;

function systemdUnit({ home, program, path }: ServiceDefinition): string {
  const start = [...program, "up", "--quiet", "--home", home]
    .map((word) => systemdWord(word.replaceAll("$", "$$$$"))) // a dollar sign in a command starts a variable
    .join(" ");
  return `# ${MARK}; \`cortex service uninstall\` removes it.
[Unit]
Description=Cortex, a switchboard for AI agents (${systemdText(home)})

[Service]
ExecStart=${start}
Environment=${systemdWord(`PATH=${path}`)}
Restart=on-failure
RestartSec=${RESTART_SECONDS}
# The configuration must be fixed first: restarting does not help.
RestartPreventExitStatus=${REFUSES_TO_START}
KillMode=mixed
TimeoutStopSec=${STOP_SECONDS}
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** Quotes a word for systemd. */
function systemdWord(word: string): string {
  return `"${systemdText(word).replaceAll(/["\\]/g, "\\$&")}"`;
}

/** Escapes percent signs, which start specifiers, and removes line breaks. */
function systemdText(text: string): string {
  return text.replaceAll("%", "%%").replaceAll(/[\n\r]/g, " ");
}

/** launchd restarts after every failure and has no exit code for "do not restart", so it waits between starts. */
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
