/**
 * What a route is. One table of them registers the handlers and is what the OpenAPI document is made from,
 * so neither can drift away from the other; replies are checked against their schemas by the compiler.
 */
import type { z } from "zod";

import type { Instant } from "../model/spans.ts";
import type { Cortex } from "./cortex.ts";

/** The largest request body, unless a route allows more. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** How late the main thread is, in milliseconds. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** What handlers work with. */
export interface RouteContext {
  readonly cortex: Cortex;
  readonly clock: () => number;
  readonly version: string;
  readonly startedAtMs: number;
  /** How long a request with `wait` waits for the answer. */
  readonly waitMs: number;
  /** How long a stream may be silent. */
  readonly heartbeatMs: number;
  /** Aborts when the server closes: whoever waits ends in time. */
  readonly closing: AbortSignal;
  /** How late the main thread is. */
  readonly loop: () => LoopDelay;
  /** The streams that are open. */
  readonly streams: Set<object>;
}

/** A request, read and checked. */
interface Asked<Name extends string = string, Query = unknown, Body = unknown> {
  readonly params: Readonly<Record<Name, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The body as it came, for a route without a schema of it. */
  readonly bytes: () => Promise<Uint8Array>;
  readonly header: (name: string) => string | undefined;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** When it came. */
  readonly received: Instant;
}

/** Statuses of success with what they come with: a schema, or the media type of what is not JSON. */
type Answers = Readonly<Record<number, z.ZodType | string>>;

interface Described {
  readonly method: "get" | "post" | "patch" | "delete";
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Default: MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** Needs no token; or only where this says so of the query. */
  readonly open?: true | ((query: Readonly<Record<string, string>>) => boolean);
}

/** The routes of a feature, with the schemas that they use by the names that the OpenAPI document gives them. */
export interface RouteTable {
  readonly routes: readonly Route[];
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

export interface Route extends Described {
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answers: Answers;
  handle(asked: Asked, context: RouteContext): Promise<Reply>;
}

type Reply = { readonly status: number; readonly body: unknown } | Response;

interface Typed<Path extends string, Query, Body, Given extends Answers> extends Described {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  readonly answers: Given;
  handle(
    asked: Asked<ParamName<Path>, Output<Query>, Output<Body>>,
    context: RouteContext,
  ): Promise<ReplyTo<NoInfer<Given>>>;
}

type ParamName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamName<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

type ReplyTo<Given extends Answers> = {
  [Status in keyof Given & number]: Given[Status] extends z.ZodType
    ? { readonly status: Status; readonly body: z.input<Given[Status]> }
    : Response;
}[keyof Given & number];

/** Lets the compiler check a handler against its own path, schemas and answers. */
export function route<
  const Path extends string,
  const Given extends Answers,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(typed: Typed<Path, Query, Body, Given>): Route {
  return typed as unknown as Route;
}
