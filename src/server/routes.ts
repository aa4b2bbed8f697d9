import { schemas } from "./api.ts";
import { describeApi } from "./openapi.ts";
import { type Route, route } from "../feature/route.ts";
import { hookRoutes } from "../hooks/surface/routes.ts";
import { insightRoutes } from "../insight/routes.ts";
import { keepingRoutes } from "../keep/routes.ts";
import { messageRoutes } from "./routes-messages.ts";
import { relayRoutes } from "../relay/surface/routes.ts";
import { searchRoutes } from "../search/routes.ts";
import { sessionRoutes } from "./routes-sessions.ts";
import { teamRoutes } from "../team/surface/routes.ts";
import { trustRoutes } from "./routes-trust.ts";
import { turnRoutes } from "./routes-turns.ts";
import { webhookRoute } from "./routes-webhooks.ts";
import { workRoutes } from "./routes-work.ts";
import { streamRoute } from "./stream.ts";

const openApiRoute = route({
  method: "get",
  path: "/api/openapi.json",
  summary: "This description",
  answers: { 200: schemas.OpenApi },
  async handle(_, { version }) {
    return { status: 200, body: describeApi(routes, version) };
  },
});

/** All that the server answers, but for the pages that people see. */
export const routes: readonly Route[] = [
  ...insightRoutes,
  ...messageRoutes,
  ...searchRoutes,
  ...sessionRoutes,
  ...turnRoutes,
  ...workRoutes,
  ...trustRoutes,
  ...hookRoutes,
  ...relayRoutes,
  ...teamRoutes,
  ...keepingRoutes,
  webhookRoute,
  streamRoute,
  openApiRoute,
];
