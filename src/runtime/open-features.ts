/** The features of a running Cortex as one: what one of them answers, all do. */
import type { Agent } from "../agents/agent.ts";
import type { Outlet } from "../channels/outlet.ts";
import type { Apis } from "../feature/cortex.ts";
import type { Feature, OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import type { ButtonHandler } from "../intake/buttons.ts";
import type { ChatCommands } from "../intake/chat-commands.ts";
import type { Direction } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";
import type { ToolResult } from "../model/tool.ts";
import { joinLabels } from "../model/trust.ts";
import type { Situation, WorkerWork } from "../turns/turn-ports.ts";

export class OpenFeatures implements AsyncDisposable {
  /** What the features that are open offer. */
  readonly apis = {} as Apis;
  readonly #opened: OpenFeature[] = [];

  /** Opens them one after the other: a feature may use those before it in the list. */
  async open(features: readonly Feature[], ports: Ports): Promise<void> {
    for (const { open } of features) {
      if (open === undefined) continue;
      const opened = await open(ports);
      Object.assign(this.apis, opened.api);
      this.#opened.push(opened);
    }
  }

  get chats(): readonly ChatCommands[] {
    return this.#opened.flatMap(({ chat }) => chat ?? []);
  }

  get buttons(): readonly ButtonHandler[] {
    return this.#opened.flatMap(({ buttons }) => buttons ?? []);
  }

  outlets(): readonly Outlet[] {
    return this.#opened.flatMap((feature) => feature.outlets?.() ?? []);
  }

  outlet(channel: string, account: string): Outlet | undefined {
    for (const feature of this.#opened) {
      const outlet = feature.outlet?.(channel, account);
      if (outlet !== undefined) return outlet;
    }
    return undefined;
  }

  outletNames(): readonly string[] {
    return this.#opened.flatMap((feature) => feature.outletNames?.() ?? []);
  }

  async recover(): Promise<void> {
    for (const feature of this.#opened) await feature.recover?.();
  }

  async start(): Promise<void> {
    for (const feature of this.#opened) await feature.start?.();
  }

  configChanged(): void {
    for (const feature of this.#opened) feature.configChanged?.();
  }

  async turnsEnded(): Promise<void> {
    for (const feature of this.#opened.toReversed()) await feature.turnsEnded?.();
  }

  /** Of a worker: the agent of the first feature that has one for it. */
  agentFor(profile: Profile, work: WorkerWork): Promise<Agent> | undefined {
    for (const feature of this.#opened) {
      const agent = feature.agentFor?.(profile, work);
      if (agent !== undefined) return agent;
    }
    return undefined;
  }

  wants(direction: Direction, channel?: string): boolean {
    return this.#opened.some((feature) => feature.wants?.(direction, channel) === true);
  }

  async situation(): Promise<Situation | undefined> {
    const told = await Promise.all(this.#opened.flatMap((feature) => feature.situation?.() ?? []));
    const situations = told.filter((situation) => situation !== undefined);
    if (situations.length === 0) return undefined;
    return {
      text: situations.map(({ text }) => text).join("\n\n"),
      label: joinLabels(...situations.map(({ label }) => label)),
    };
  }

  async readWait(detail: Json): Promise<ToolResult | undefined> {
    for (const feature of this.#opened) {
      const result = await feature.readWait?.(detail);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  /** Those whose folder is not known are left out. */
  async sharedFolders(): Promise<readonly string[]> {
    const folders = await Promise.all(
      this.#opened.flatMap((feature) => feature.sharedFolder?.().catch(() => undefined) ?? []),
    );
    return folders.filter((folder) => folder !== undefined);
  }

  /** The last one first: it may use those before it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const feature of this.#opened.toReversed()) await feature[Symbol.asyncDispose]?.();
  }
}
