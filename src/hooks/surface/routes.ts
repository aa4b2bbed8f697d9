/** The HTTP routes of hooks: list, runs, enable and test. */
import type { EventId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import { hookRunView, hookView, readHooks } from "./views.ts";
import { hookSchemas as schemas } from "./schemas.ts";
import { pageOf } from "../../feature/page.ts";
import { PageQuery } from "../../feature/requests.ts";
import { route } from "../../feature/route.ts";

export const hookRoutes = [
  route({
    method: "get",
    path: "/api/hooks",
    needs: "read",
    summary: "All hooks with their health",
    answers: { 200: schemas.Hooks },
    async handle(_, { cortex }) {
      return { status: 200, body: { items: await readHooks(cortex.store), next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/hooks/:name/runs",
    needs: "read",
    summary: "The runs of a hook",
    query: PageQuery,
    answers: { 200: schemas.HookRuns },
    async handle({ params, query }, { cortex }) {
      const runs = await cortex.store.hooks.runs(params.name, present(query));
      return { status: 200, body: pageOf(runs, hookRunView) };
    },
  }),
  route({
    method: "patch",
    path: "/api/hooks/:name",
    needs: "admin",
    summary: "Enable or disable a hook",
    body: schemas.HookPatch,
    answers: { 200: schemas.Hook },
    async handle({ caller, params: { name }, body: { enabled } }, { cortex }) {
      const hook = await cortex.hooks.setEnabled(name, enabled, caller);
      return { status: 200, body: hookView(hook, await cortex.store.hooks.health(name)) };
    },
  }),
  route({
    method: "post",
    path: "/api/hooks/:name/test",
    needs: "admin", // it runs the hook's code, which reads the ledger, on an event of the caller's choice
    summary: "Dry-run a hook on an event; nothing is recorded or done",
    body: schemas.HookTestRequest,
    answers: { 200: schemas.HookTrial },
    async handle({ params: { name }, body: { eventId, event } }, { cortex, clock }) {
      if (event === undefined)
        return { status: 200, body: await cortex.hooks.test(name, eventId as EventId) };
      const { timestamp, channel = event.adapter, ...rest } = event;
      const timestampMs = timestamp === undefined ? clock() : Date.parse(timestamp);
      const trial = await cortex.hooks.test(name, { ...present(rest), channel, timestampMs });
      return { status: 200, body: trial };
    },
  }),
];
