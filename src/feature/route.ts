/**
 * The definition of a route. One table of routes registers the handlers and generates the OpenAPI document, so the two
 * cannot diverge; the compiler checks replies against their schemas.
 */
import type { z } from "zod";

import type { Caller, Need } from "../model/scopes.ts";
import type { Instant } from "../model/spans.ts";
import type { Cortex } from "./cortex.ts";

/** The largest request body, unless a route allows more. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The delay of the event loop. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The environment of handlers. */
export interface RouteContext {
  readonly cortex: Cortex;
  readonly clock: () => number;
  readonly version: string;
  readonly startedAtMs: number;
  /** How long a request with `wait` may wait. */
  readonly waitMs: number;
  /** How long a stream may be silent. */
  readonly heartbeatMs: number;
  /** Aborts when the server closes, so that waiting requests end in time. */
  readonly closing: AbortSignal;
  readonly loop: () => LoopDelay;
  /** The open streams. */
  readonly streams: Set<object>;
}

/** A parsed and validated request. */
export interface RouteRequest<Name extends string = string, Query = unknown, Body = unknown> {
  /** Who makes it. They may do what the route needs. */
  readonly caller: Caller;
  readonly params: Readonly<Record<Name, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The raw body, for routes without a schema of it. */
  readonly bytes: () => Promise<Uint8Array>;
  readonly header: (name: string) => string | undefined;
  /** Whether its token is still valid. For requests that take long. */
  readonly mayContinue: () => Promise<boolean>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** When the request arrived. */
  readonly received: Instant;
}

/** The success statuses, each with a schema, or with a media type if it is not JSON. */
type Answers = Readonly<Record<number, z.ZodType | string>>;

interface Described {
  readonly method: "get" | "post" | "patch" | "delete";
  /** What its token must be allowed to do. `none`: it has its own authentication, or shows nothing. */
  readonly needs: Need | "none";
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Default: MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** Queries for which it needs no token. */
  readonly open?: (query: Readonly<Record<string, string>>) => boolean;
}

/** Routes and their schemas, by their names in the OpenAPI document. */
export interface RouteTable {
  readonly routes: readonly Route[];
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

export interface Route extends Described {
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answers: Answers;
  handle(request: RouteRequest, context: RouteContext): Promise<Reply>;
}

type Reply = { readonly status: number; readonly body: unknown } | Response;

interface Typed<Path extends string, Query, Body, Given extends Answers> extends Described {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  readonly answers: Given;
  handle(
    request: RouteRequest<ParamName<Path>, Output<Query>, Output<Body>>,
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
