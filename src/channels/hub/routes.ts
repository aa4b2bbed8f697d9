/** Chat channels over HTTP. */
import { z } from "zod";

import { route } from "../../feature/route.ts";
import type { Cortex } from "../../feature/cortex.ts";
import { present } from "../../model/present.ts";
import { personView } from "../../people/views.ts";
import { channelSchemas as schemas } from "./schemas.ts";
import { channelViews, findingsView } from "./views.ts";

const AccountQuery = z.strictObject({
  account: z.string().min(1).optional().describe("One account. Default: all of the channel."),
});

export const channelRoutes = [
  route({
    method: "get",
    path: "/api/channels",
    needs: "read",
    summary: "List chat channels with the state of their connections",
    answers: { 200: schemas.Channels },
    handle: async (_, { cortex }) => ({ status: 200, body: await listOf(cortex) }),
  }),
  route({
    method: "post",
    path: "/api/channels/pair",
    needs: "admin",
    summary: "Let in the stranger who was given a code",
    body: schemas.PairRequest,
    answers: { 200: schemas.Person },
    async handle({ caller, body: { code, as: role, person } }, { cortex: { channels } }) {
      return {
        status: 200,
        body: personView(await channels.pair(code, { role, ...present({ person }) }, caller)),
      };
    },
  }),
  route({
    method: "post",
    path: "/api/channels/unpair",
    needs: "admin",
    summary: "Take an identity on a channel away from its person",
    body: schemas.UnpairRequest,
    answers: { 200: schemas.Person },
    async handle({ caller, body: { identity } }, { cortex: { channels } }) {
      return { status: 200, body: personView(await channels.unpair(identity, caller)) };
    },
  }),
  route({
    method: "post",
    path: "/api/channels/:name/reconnect",
    needs: "admin",
    summary: "Read the configuration and connect a channel again",
    query: AccountQuery,
    answers: { 200: schemas.Channels },
    async handle({ params: { name }, query: { account } }, { cortex }) {
      await cortex.channels.reconnect(name, account);
      const { items } = await listOf(cortex);
      const meant = items.filter(
        (each) => each.name === name && (account === undefined || each.account === account),
      );
      return { status: 200, body: { items: meant, next: null } };
    },
  }),
  route({
    method: "post",
    path: "/api/channels/:name/test",
    needs: "admin",
    summary: "Ask the platform of a channel whether everything is set up",
    query: AccountQuery,
    answers: { 200: schemas.ChannelFindings },
    async handle({ params: { name }, query: { account } }, { cortex: { channels } }) {
      const found = await channels.test(name, account);
      return { status: 200, body: { items: found.map(findingsView), next: null } };
    },
  }),
];

async function listOf({ channels, store }: Cortex) {
  return { items: channelViews(channels.list(), await store.outbox.open()), next: null };
}
