import type { Capabilities, Finding } from "../channel.ts";
import type { LinkStatus } from "./link.ts";

export interface AccountStatus extends LinkStatus {
  readonly channel: string;
  readonly account: string;
  readonly ack: Capabilities["ack"];
}

export interface AccountFindings {
  readonly channel: string;
  readonly account: string;
  readonly findings: readonly Finding[];
}
