import { CortexError } from "../model/errors.ts";
import { ACTIVE_PROFILE, type Profile } from "../model/profile.ts";
import { parseQueueMode } from "../model/queue-mode.ts";
import { requireScope } from "../model/scopes.ts";
import { TRUST_SETTING } from "../model/trust.ts";
import { normalizeSessionKey, type SessionKey } from "../model/session-key.ts";
import { present } from "../model/present.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { describeTurns } from "../runtime/context-sources.ts";
import { readSessionTree } from "../insight/session-tree.ts";
import { sessionView } from "../feature/views.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import type { Feature } from "../feature/feature.ts";
import { pageOf } from "../feature/page.ts";
import { ContextQuery, SessionPatch, SessionsQuery, TurnsQuery } from "../feature/requests.ts";
import { type Route, route } from "../feature/route.ts";
import { threadPage } from "./thread.ts";

export const sessionRoutes = [
  route({
    method: "get",
    path: "/api/sessions",
    needs: "read",
    summary: "List sessions, most recently used first",
    query: SessionsQuery,
    answers: { 200: schemas.Sessions },
    async handle({ query: { tree, all, ...options } }, { cortex: { store } }) {
      const open = all !== "1";
      if (tree === "1") {
        return { status: 200, body: { items: await readSessionTree(store, { open }), next: null } };
      }
      const sessions = await store.sessions.list({ ...present(options), open });
      return { status: 200, body: pageOf(sessions, sessionView) };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:key",
    needs: "read",
    summary: "Get a session",
    answers: { 200: schemas.Session },
    async handle({ params }, { cortex }) {
      return { status: 200, body: sessionView(await findSession(params.key, cortex)) };
    },
  }),
  route({
    method: "patch",
    path: "/api/sessions/:key",
    needs: "send",
    summary: "Change the queue mode or profile of a session, or clear its labels",
    body: SessionPatch,
    answers: { 200: schemas.Session },
    async handle({ caller, params, body: { mode, profile, trust } }, { cortex }) {
      if (trust !== undefined) requireScope(caller, "approve"); // a person vouches for the conversation
      const { key } = await findSession(params.key, cortex);
      if (profile !== undefined && profile !== null) checkProfile(profile, cortex);
      const parsed = typeof mode === "string" ? parseQueueMode(mode) : mode;
      const cleared = trust === undefined ? undefined : present(trust);
      const settings = { mode: parsed, profile, [TRUST_SETTING]: cleared };
      await cortex.store.sessions.configure(key, present(settings), { by: caller });
      return { status: 200, body: sessionView(await findSession(key, cortex)) };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:key/children",
    needs: "read",
    summary: "List the sessions that this one's agent opened, oldest first",
    answers: { 200: schemas.Sessions },
    async handle({ params }, { cortex }) {
      const children = await cortex.getChildSessions(params.key);
      return { status: 200, body: { items: children.map(sessionView), next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:key/turns",
    needs: "read",
    summary: "List the turns of a session, newest first",
    query: TurnsQuery,
    answers: { 200: schemas.Turns },
    async handle({ params, query }, { cortex }) {
      const { head } = await findSession(params.key, cortex);
      if (head === undefined) return { status: 200, body: { items: [], next: null } };
      return { status: 200, body: await threadPage(head, query, cortex.store) };
    },
  }),
  route({
    method: "post",
    path: "/api/sessions/:key/abort",
    needs: "send",
    summary: "Abort the run of a session; its output so far is kept",
    answers: { 200: schemas.Aborted },
    async handle({ params }, { cortex }) {
      const session = normalizeSessionKey(params.key);
      if (!(await cortex.abort(session))) throw nothingRuns(session);
      return { status: 200, body: { session, aborted: true as const } };
    },
  }),
];

/** Knows the features, whose tools are part of the context. */
export const contextRoute = (features: readonly Feature[]): Route =>
  route({
    method: "get",
    path: "/api/sessions/:key/context",
    needs: "read",
    summary: "Show the model context of a session and the tokens of each part",
    query: ContextQuery,
    answers: { 200: schemas.SessionContext },
    async handle({ params, query }, { cortex }) {
      const { key } = await findSession(params.key, cortex);
      const { contextView, readContext } = await import("../insight/context-view.ts"); // loaded with the first turn
      const reading = await readContext(key, {
        ledger: cortex.store,
        home: cortex.home,
        config: cortex.config(),
        profile: (name) => profileOf(name, cortex),
        ...(await describeTurns(cortex.config(), features)),
      });
      return { status: 200, body: contextView(reading, { full: query.full === "1" }) };
    },
  });

async function findSession(name: string, { store }: Cortex) {
  const key = normalizeSessionKey(name);
  const session = await store.sessions.get(key);
  if (session === undefined) throw sessionUnknown(key);
  return session;
}

function checkProfile(name: string, cortex: Cortex): void {
  profileOf(name, cortex);
}

function profileOf(name: string, cortex: Cortex): Profile {
  const { profiles } = cortex.config();
  const active = cortex.model().profile;
  if (name === ACTIVE_PROFILE || name === active.name) return active;
  if (Object.hasOwn(profiles, name)) return profiles[name]!;
  throw new CortexError("profile_unknown", `Unknown profile "${name.slice(0, 80)}"`, {
    hint: `Known profiles: ${Object.keys(profiles).join(", ")}. Add others in config/profiles.json.`,
  });
}

function sessionUnknown(key: SessionKey): CortexError {
  return new CortexError("session_unknown", `Unknown session "${key}"`, {
    hint: "GET /api/sessions lists the sessions.",
  });
}

function nothingRuns(session: SessionKey): CortexError {
  return new CortexError("state_conflict", `Nothing is running in session "${session}"`, {
    hint: "GET /api/runs lists the runs.",
  });
}
