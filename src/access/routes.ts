/** Tokens and the audit log over HTTP. */
import { pageOf } from "../feature/page.ts";
import { PageQuery } from "../feature/requests.ts";
import { route } from "../feature/route.ts";
import { isoTime } from "../feature/views.ts";
import { present } from "../model/present.ts";
import { createUlidSource } from "../model/ulid.ts";
import { createToken } from "./create-token.ts";
import { rotateMainToken } from "./rotate-main-token.ts";
import { accessSchemas as schemas, AuditQuery } from "./schemas.ts";
import { auditView, tokenView } from "./views.ts";

export const accessRoutes = [
  route({
    method: "get",
    path: "/api/tokens",
    needs: "admin",
    summary: "List tokens, also those that expired or were revoked",
    query: PageQuery,
    answers: { 200: schemas.Tokens },
    async handle({ query }, { cortex: { store }, clock }) {
      const page = await store.tokens.list(present(query));
      return { status: 200, body: pageOf(page, (token) => tokenView(token, clock())) };
    },
  }),
  route({
    method: "post",
    path: "/api/tokens",
    needs: "admin",
    summary: "Create a token; the response is the only place with its secret",
    body: schemas.TokenRequest,
    answers: { 201: schemas.NewToken },
    async handle({ caller, body: { expiresAt, ...wanted } }, { cortex: { store }, clock }) {
      const expiresAtMs = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      const parts = { id: createUlidSource(clock)(), by: caller, nowMs: clock(), store };
      const { token, secret } = await createToken({ ...wanted, expiresAtMs }, parts);
      return { status: 201, body: { ...tokenView(token, clock()), token: secret } };
    },
  }),
  route({
    method: "delete",
    path: "/api/tokens/:id",
    needs: "admin",
    summary: "Revoke a token; what it has open ends",
    answers: { 200: schemas.Token },
    async handle({ caller, params: { id } }, { cortex: { store, live }, clock }) {
      const token = await store.tokens.revoke(id, caller);
      live.announce("access.changed");
      return { status: 200, body: tokenView(token, clock()) };
    },
  }),
  route({
    method: "post",
    path: "/api/tokens/rotate",
    needs: "admin",
    summary: "Replace the main token; the new one is in data/token of the home",
    answers: { 200: schemas.MainToken },
    async handle({ caller }, { cortex: { home, store, live }, clock }) {
      const { fingerprint } = await rotateMainToken(home, { store, by: caller });
      live.announce("access.changed");
      return { status: 200, body: { fingerprint, rotatedAt: isoTime(clock()) } };
    },
  }),
  route({
    method: "get",
    path: "/api/audit",
    needs: "read",
    summary: "List decisions and permission changes",
    query: AuditQuery,
    answers: { 200: schemas.Audit },
    async handle({ query: { since, ...query } }, { cortex: { store } }) {
      const sinceMs = since === undefined ? undefined : Date.parse(since);
      return { status: 200, body: pageOf(await store.audit.list(present({ ...query, sinceMs })), auditView) };
    },
  }),
];
