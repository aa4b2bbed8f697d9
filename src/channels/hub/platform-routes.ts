/** Where platforms send events by HTTP. Open to everyone: each channel recognizes its platform by a signature or a secret. */
import { z } from "zod";

import { type Route, type RouteContext, type RouteRequest, route } from "../../feature/route.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { MAX_PLATFORM_BODY_BYTES } from "./requests.ts";

/** Platforms name their parameters as they like. */
const AnyQuery = z.object({}).catchall(z.string());

export const platformRoutes: readonly Route[] = (["get", "post"] as const).flatMap((method) => {
  const shared = {
    method,
    needs: "none",
    summary:
      method === "get"
        ? "Answer the check of a platform before it sends events"
        : "Receive events of a platform; it is authenticated by the channel, not by a token",
    query: AnyQuery,
    maxBodyBytes: MAX_PLATFORM_BODY_BYTES,
    answers: { 200: "text/plain" },
  } as const;
  return [
    route({
      ...shared,
      path: "/in/:channel",
      handle: (request, context) => take({ method, account: DEFAULT_ACCOUNT }, request, context),
    }),
    route({
      ...shared,
      path: "/in/:channel/:account",
      handle: (request, context) => take({ method, account: request.params.account }, request, context),
    }),
  ];
});

async function take(
  { method, account }: { readonly method: string; readonly account: string },
  { params, query, header, bytes }: RouteRequest<"channel", Readonly<Record<string, string>>>,
  { cortex: { channels } }: RouteContext,
): Promise<Response> {
  const request = { method: method.toUpperCase(), query, header, body: bytes };
  const { status, contentType, body } = await channels.handle(params.channel, account, request);
  const headers = { "Content-Type": contentType ?? "text/plain; charset=utf-8" };
  return new Response(body ?? "", { status, headers });
}
