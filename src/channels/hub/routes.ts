/** Chat channels over HTTP. */
import { isoTime } from "../../feature/views.ts";
import { route } from "../../feature/route.ts";
import { present } from "../../model/present.ts";
import { personView } from "../../people/views.ts";
import type { AccountStatus } from "./hub.ts";
import { channelSchemas as schemas } from "./schemas.ts";

export const channelRoutes = [
  route({
    method: "get",
    path: "/api/channels",
    needs: "read",
    summary: "List chat channels with the state of their connections",
    answers: { 200: schemas.Channels },
    async handle(_, { cortex: { channels } }) {
      return { status: 200, body: { items: channels.list().map(channelView), next: null } };
    },
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
    path: "/api/channels/:name/reconnect",
    needs: "admin",
    summary: "Connect the accounts of a channel again",
    answers: { 200: schemas.Channels },
    async handle({ params: { name } }, { cortex: { channels } }) {
      channels.reconnect(name);
      const items = channels.list().filter(({ channel }) => channel === name);
      return { status: 200, body: { items: items.map(channelView), next: null } };
    },
  }),
];

function channelView({
  channel,
  account,
  state,
  sinceMs,
  lastProofAtMs,
  lastEventAtMs,
  error,
}: AccountStatus) {
  return {
    name: channel,
    account,
    state,
    since: isoTime(sinceMs),
    lastProofAt: lastProofAtMs === undefined ? null : isoTime(lastProofAtMs),
    lastEventAt: lastEventAtMs === undefined ? null : isoTime(lastEventAtMs),
    error: error ?? null,
    node: null,
  };
}

export type ChannelView = ReturnType<typeof channelView>;
