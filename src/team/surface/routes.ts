/** The team over HTTP: its state, new tasks, heartbeats on demand, and the coordinator's reports. */
import { present } from "../../model/present.ts";
import { beatView, teamView, withNulls } from "./views.ts";
import { TeamQuery, teamSchemas as schemas } from "./schemas.ts";
import { route } from "../../feature/route.ts";

export const teamRoutes = [
  route({
    method: "get",
    path: "/api/team",
    needs: "read",
    summary: "Get the team: members with their tasks, projects, problems",
    query: TeamQuery,
    answers: { 200: schemas.Team },
    async handle({ query: { tasks } }, { cortex }) {
      return { status: 200, body: teamView(await (await cortex.team.open()).status(), tasks) };
    },
  }),
  route({
    method: "post",
    path: "/api/team/tasks",
    needs: "send",
    summary: "Give a member a task",
    body: schemas.TeamTaskRequest,
    answers: { 201: schemas.TeamTask },
    async handle({ body }, { cortex }) {
      const { agent, title, ordinal, file } = await (await cortex.team.open()).dispatch(present(body));
      return { status: 201, body: { agent, title, ordinal, file } };
    },
  }),
  route({
    method: "post",
    path: "/api/team/adopt",
    needs: "approve", // the tool asks for approval: a note can name any folder,
    summary: "Let Cortex run a member",
    body: schemas.TeamAdoptRequest,
    answers: { 200: schemas.TeamAdopted },
    async handle({ body: { agent } }, { cortex }) {
      const { slug, notePath, changed, isInactive } = await (await cortex.team.open()).adopt(agent);
      return { status: 200, body: { agent: slug, file: notePath, changed, isInactive } };
    },
  }),
  route({
    method: "post",
    path: "/api/team/tick",
    needs: "send",
    summary: "Trigger a heartbeat of one member or all",
    body: schemas.TeamTickRequest,
    answers: { 200: schemas.TeamTick },
    async handle({ body: { agent } }, { cortex }) {
      const { members } = await (await cortex.team.open()).tick(agent);
      return { status: 200, body: { members: members.map(beatView) } };
    },
  }),
  route({
    method: "post",
    path: "/api/team/housekeeping",
    needs: "send",
    summary: "Remove old finished tasks and session logs, and commit the change",
    answers: { 200: schemas.TeamHousekeeping },
    async handle(_, { cortex }) {
      return { status: 200, body: withNulls(await (await cortex.team.open()).housekeeping()) };
    },
  }),
  route({
    method: "get",
    path: "/api/team/briefing",
    needs: "read",
    summary: "Get the briefing: progress, blockers, upcoming work",
    answers: { 200: schemas.TeamBriefing },
    async handle(_, { cortex }) {
      return { status: 200, body: withNulls(await (await cortex.team.open()).briefing()) };
    },
  }),
  route({
    method: "get",
    path: "/api/team/review",
    needs: "read",
    summary: "Get the review: done today, blockers, next",
    answers: { 200: schemas.TeamReview },
    async handle(_, { cortex }) {
      return { status: 200, body: withNulls(await (await cortex.team.open()).review()) };
    },
  }),
];
