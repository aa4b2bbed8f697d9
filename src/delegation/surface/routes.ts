import { route } from "../../feature/route.ts";
import { delegationSchemas as schemas } from "./schemas.ts";
import { subTypesView } from "./views.ts";

export const delegationRoutes = [
  route({
    method: "get",
    path: "/api/agents/sub-types",
    summary: "The types of sub-agents: those that come along, and those that are configured",
    answers: { 200: schemas.SubAgentTypes },
    async handle(_, { cortex }) {
      return { status: 200, body: { items: subTypesView(cortex.config()), next: null } };
    },
  }),
];
