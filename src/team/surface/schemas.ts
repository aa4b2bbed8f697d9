/** The schemas of a team over HTTP, and the types of its views. */
import { z } from "zod";

const time = z.string().meta({ format: "date-time" });
const text = z.string().refine((value) => value.isWellFormed(), { error: "invalid Unicode" });
const stamp = z.string().describe("Local time without a zone, as in 2026-03-28T10:15.");

const Task = z.object({
  title: z.string(),
  ordinal: z.number().describe("Position among tasks with the same title, from 1."),
  status: z.enum(["ready", "in-progress", "done"]).nullable().describe("Null: statusText is invalid."),
  statusText: z.string(),
  started: stamp.nullable(),
  completed: stamp.nullable(),
  forMs: z.number().nullable().describe("Time in progress, in ms."),
  template: z.string().nullable().describe("The template of the relay that the task runs as."),
  external: z.string().nullable().describe("The task file of another runner that the task mirrors."),
  body: z.string(),
  summary: z.string().nullable(),
  flag: z
    .object({ reason: z.string(), since: stamp })
    .nullable()
    .describe("Why it is blocked, and since when."),
  line: z.number().describe("The line of its heading in the file."),
});
const Member = z.object({
  slug: z.string(),
  name: z.string(),
  role: z.string(),
  project: z.string().nullable(),
  status: z.enum(["active", "inactive"]),
  runtime: z.string().nullable(),
  isCoordinator: z.boolean(),
  isManaged: z.boolean().describe("Whether Cortex runs this member."),
  joined: z.string().nullable(),
  projects: z.array(z.string()).readonly(),
  capabilities: z.array(z.string()).readonly(),
  session: z.object({ last: z.string().nullable(), status: z.string().nullable() }),
  liveness: z.object({
    state: z.enum(["fresh", "idle", "down", "never-started", "inactive"]),
    ageMs: z.number().nullable().describe("Age of its last tick; null if it has none."),
    isAhead: z.boolean().describe("Whether its last tick is in the future."),
  }),
  lastTick: stamp.nullable(),
  counts: z.object({
    ready: z.number(),
    inProgress: z.number(),
    done: z.number(),
    unknown: z.number(),
  }),
  notices: z.array(z.string()).readonly().describe("Notices for people, in Markdown."),
  noteFile: z.string(),
  tasksFile: z.string(),
  tasks: z.array(Task).readonly(),
});
const Project = z.object({
  slug: z.string(),
  file: z.string(),
  status: z.string().nullable(),
  created: z.string().nullable(),
  nextActions: z.array(z.string()).readonly(),
  notes: z.array(z.string()).readonly(),
});
const Problem = z.object({
  file: z.string(),
  line: z.number(),
  rule: z.string(),
  message: z.string(),
  hint: z.string(),
});

const Beat = z.object({
  agent: z.string(),
  state: z.enum(["working", "idle", "waiting", "reported", "inactive", "foreign", "failed"]),
  task: z.object({ title: z.string(), ordinal: z.number() }).nullable(),
  detail: z.string().nullable(),
});

const MemberName = z.object({ slug: z.string(), name: z.string() });
const sharedFacts = {
  totals: z.object({
    members: z.number(),
    fresh: z.number(),
    ready: z.number(),
    inProgress: z.number(),
    done: z.number(),
  }),
  missing: z
    .array(
      z.object({
        member: MemberName,
        state: z.enum(["down", "never-started", "inactive"]),
        active: z.number(),
        ageMs: z.number().nullable(),
      }),
    )
    .readonly(),
  blocked: z
    .array(
      z.object({
        member: MemberName,
        title: z.string().nullable(),
        reason: z.string(),
        since: z.string().nullable(),
      }),
    )
    .readonly(),
  inProgress: z
    .array(
      z.object({
        member: MemberName,
        title: z.string(),
        started: stamp.nullable(),
        forMs: z.number().nullable(),
        progress: z.string().nullable(),
      }),
    )
    .readonly(),
  upcoming: z
    .array(z.object({ member: MemberName, ready: z.number(), titles: z.array(z.string()).readonly() }))
    .readonly(),
  nextActions: z.array(z.object({ slug: z.string(), action: z.string() })).readonly(),
};

export const TeamQuery = z.strictObject({
  tasks: z
    .enum(["all", "active", "none"])
    .optional()
    .describe("Which tasks to include: all, active (ready or in progress), or none."),
});

export const teamSchemas = {
  Team: z.object({
    root: z.string(),
    at: time,
    timezone: z.string(),
    members: z.array(Member).readonly(),
    projects: z.array(Project).readonly(),
    problems: z.array(Problem).readonly(),
  }),
  TeamTaskRequest: z.strictObject({
    agent: text.min(1).describe("Slug or name of a member."),
    title: text.min(1),
    body: text.optional(),
    template: text.min(1).optional().describe("Run it as a relay of this template."),
    external: text.min(1).optional().describe("Task file of another runner that the task mirrors."),
  }),
  TeamTask: z.object({
    agent: z.string(),
    title: z.string(),
    ordinal: z.number(),
    file: z.string().describe("Relative to the team directory."),
  }),
  TeamAdoptRequest: z.strictObject({ agent: text.min(1).describe("Slug or name of a member.") }),
  TeamAdopted: z.object({
    agent: z.string(),
    file: z.string().describe("Its note, relative to the team directory."),
    changed: z.boolean().describe("False: Cortex already ran this member."),
    isInactive: z.boolean().describe("True: it gets no ticks until its note says `status: active`."),
  }),
  TeamTickRequest: z.strictObject({ agent: text.min(1).optional().describe("Default: all members.") }),
  TeamTick: z.object({ members: z.array(Beat).readonly() }),
  TeamHousekeeping: z.object({
    removed: z.array(z.object({ slug: z.string(), title: z.string(), completed: z.string() })).readonly(),
    trimmed: z.array(z.string()).readonly(),
    committed: z.string().nullable().describe("The id of the commit."),
    uncommitted: z.string().nullable().describe("Why there is no commit."),
    isPostponed: z.boolean().describe("True: nothing was pruned, because git refused to commit."),
    failed: z.array(z.object({ file: z.string(), message: z.string(), hint: z.string() })).readonly(),
  }),
  TeamBriefing: z.object({
    text: z.string().describe("Markdown."),
    facts: z.object({
      stamp,
      fresh: z.array(MemberName).readonly(),
      problems: z.number(),
      notices: z.array(z.object({ member: MemberName, text: z.string() })).readonly(),
      ...sharedFacts,
    }),
  }),
  TeamReview: z.object({
    text: z.string().describe("Markdown."),
    facts: z.object({
      date: z.string(),
      doneToday: z
        .array(
          z.object({
            member: MemberName,
            title: z.string(),
            completed: stamp,
            summary: z.string().nullable(),
          }),
        )
        .readonly(),
      ...sharedFacts,
    }),
  }),
};

export type TaskView = Readonly<z.output<typeof Task>>;
export type WholeMemberView = Readonly<z.output<typeof Member>>;
export type MemberView = Omit<WholeMemberView, "tasks">;
export type TeamView = Readonly<z.output<typeof teamSchemas.Team>>;
export type BeatView = Readonly<z.output<typeof Beat>>;
