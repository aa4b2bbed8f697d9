import { CortexError } from "../../model/errors.ts";
import type { DiscordApi } from "./api.ts";
import type { Dispatch } from "./gateway.ts";
import { remember } from "../../model/remember.ts";

export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly name?: string;
  /** Of a thread: its channel. Of a channel: its category. */
  readonly parent_id?: string | null;
  readonly guild_id?: string;
  readonly owner_id?: string;
  readonly last_message_id?: string | null;
}

interface Guild {
  readonly roles: readonly {
    readonly id: string;
    readonly name: string;
    /** The bot whose own role it is. */
    readonly tags?: { readonly bot_id?: string };
  }[];
}

const MAX_KNOWN = 2_000;

/** Names and kinds of places, asked for when they are needed, and forgotten when Discord says that they change. */
export class Places {
  readonly #api: DiscordApi;
  readonly #known = new Map<string, unknown>();

  constructor(api: DiscordApi) {
    this.#api = api;
  }

  channel(id: string, signal: AbortSignal): Promise<Channel | undefined> {
    return this.#get<Channel>(`/channels/${id}`, signal);
  }

  async roles(guild: string, signal: AbortSignal): Promise<Guild["roles"]> {
    return (await this.#get<Guild>(`/guilds/${guild}`, signal))?.roles ?? [];
  }

  /** Without threads. Never one by one: anybody can write ids that do not exist, and Discord locks out who asks for many. */
  async channels(guild: string, signal: AbortSignal): Promise<readonly Channel[]> {
    return (await this.#get<readonly Channel[]>(`/guilds/${guild}/channels`, signal)) ?? [];
  }

  note({ type, data }: Dispatch): void {
    if (!/^(CHANNEL|THREAD|GUILD)_/.test(type)) return;
    const { id, guild_id: guild = id } = data as { readonly id?: string; readonly guild_id?: string };
    for (const path of [`/channels/${id}`, `/guilds/${guild}`, `/guilds/${guild}/channels`])
      this.#known.delete(path);
  }

  /** Undefined: it is gone, or hidden from the bot. */
  async #get<Result>(path: string, signal: AbortSignal): Promise<Result | undefined> {
    if (this.#known.has(path)) return this.#known.get(path) as Result;
    const answer = await ifAllowed(this.#api<Result>(`GET ${path}`, signal));
    if (answer !== undefined) remember(this.#known, [path, answer], MAX_KNOWN);
    return answer;
  }
}

/** Undefined: Discord refuses it, now and later. */
export async function ifAllowed<Result>(asking: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof CortexError && error.code === "delivery_refused") return undefined;
    throw error;
  }
}
