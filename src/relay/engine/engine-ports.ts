import type { Settings } from "../../config/settings.ts";
import type { Ports } from "../../feature/ports.ts";
import type { RelayId } from "../../model/ids.ts";
import type { RunProgram } from "../scripts/script.ts";
import type { RelayScripts } from "../templates/snapshot.ts";

/** The ports of Cortex that the engine uses, and relay scripts. */
export interface EnginePorts extends Pick<
  Ports,
  "home" | "store" | "clock" | "mintId" | "slots" | "log" | "can"
> {
  readonly settings: Pick<Settings, "config">;
  /** Runs a script of the owner. */
  readonly run: RunProgram;
  /** Scripts that callers passed with their requests. They are not stored and do not survive a restart. */
  readonly extraScripts: Pick<Map<RelayId, RelayScripts>, "get" | "set" | "delete">;
}
