/** All routes of the API: the core's and those of the features. */
import { coreSchemas } from "../feature/api.ts";
import type { Feature } from "../feature/feature.ts";
import { type Route, route, type RouteTable } from "../feature/route.ts";
import { doctorRoutes, doctorSchemas } from "../doctor/routes.ts";
import { describeApi } from "./openapi.ts";
import { messageRoutes } from "./routes-messages.ts";
import { contextRoute, sessionRoutes } from "./routes-sessions.ts";
import { trustRoutes } from "./routes-trust.ts";
import { turnRoutes } from "./routes-turns.ts";
import { workRoutes } from "./routes-work.ts";
import { streamRoute } from "./stream.ts";

export async function loadRoutes(features: readonly Feature[]): Promise<RouteTable> {
  const tables = await Promise.all(features.flatMap(({ routes }) => routes?.() ?? []));
  const openApi: Route = route({
    method: "get",
    path: "/api/openapi.json",
    needs: "read",
    summary: "Get this OpenAPI document",
    answers: { 200: coreSchemas.OpenApi },
    async handle(_, { version }) {
      return { status: 200, body: describeApi(table, version) };
    },
  });
  const table: RouteTable = {
    routes: [
      ...messageRoutes,
      ...sessionRoutes,
      contextRoute(features),
      ...turnRoutes,
      ...workRoutes,
      ...trustRoutes,
      ...doctorRoutes(features),
      ...tables.flatMap(({ routes }) => routes),
      streamRoute,
      openApi,
    ],
    schemas: Object.assign({ ...coreSchemas, ...doctorSchemas }, ...tables.map(({ schemas }) => schemas)),
  };
  return table;
}
