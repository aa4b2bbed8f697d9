/** What goes over the wire about a team. */
import { z } from "zod";

const time = z.string().meta({ format: "date-time" });
const text = z.string().refine((value) => value.isWellFormed(), { error: "holds half a character" });
const stamp = z.string().describe("Local time without a zone, as it is written: 2026-03-28T10:15.");

const LIVENESS = ["fresh", "idle", "down", "never-started", "inactive"] as const;
const BEATS = ["working", "idle", "waiting", "reported", "inactive", "foreign", "failed"] as const;

const Task = z.object({
  title: z.string(),
  ordinal: z.number().describe("Titles may repeat: the first one of a title has 1."),
  status: z.enum(["ready", "in-progress", "done"]).nullable().describe("Null: statusText is none."),
  statusText: z.string(),
  started: stamp.nullable(),
  completed: stamp.nullable(),
  forMs: z.number().nullable().describe("How long it has been in progress."),
  template: z.string().nullable().describe("It is run as a relay of this template."),
  external: z.string().nullable().describe("The task file of another runner, which it stands for."),
  body: z.string(),
  summary: z.string().nullable(),
  flag: z.object({ reason: z.string(), since: stamp }).nullable().describe("Why nobody goes on with it."),
  line: z.number().describe("Of its heading in the file."),
});
const Member = z.object({
  slug: z.string(),
  name: z.string(),
  role: z.string(),
  project: z.string().nullable(),
  status: z.enum(["active", "inactive"]),
  runtime: z.string().nullable(),
  isCoordinator: z.boolean(),
  isManaged: z.boolean().describe("Cortex works on its tasks."),
  joined: z.string().nullable(),
  projects: z.array(z.string()).readonly(),
  capabilities: z.array(z.string()).readonly(),
  session: z.object({ last: z.string().nullable(), status: z.string().nullable() }),
  liveness: z.object({
    state: z.enum(LIVENESS),
    ageMs: z.number().nullable().describe("Since its last tick; null: there was none."),
    isAhead: z.boolean().describe("Its last tick is in the future."),
  }),
  lastTick: stamp.nullable(),
  counts: z.object({
    ready: z.number(),
    inProgress: z.number(),
    done: z.number(),
    unknown: z.number(),
  }),
  notices: z.array(z.string()).readonly().describe("What people should know of it, in Markdown."),
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
    .describe("Which tasks are shown: all, those that are ready or in progress, or none."),
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
    agent: text.min(1).describe("The slug of a member, or its name."),
    title: text.min(1),
    body: text.optional(),
    template: text.min(1).optional().describe("Run it as a relay of this template."),
    external: text.min(1).optional().describe("It stands for the task file of another runner."),
  }),
  TeamTask: z.object({
    agent: z.string(),
    title: z.string(),
    ordinal: z.number(),
    file: z.string().describe("Below the team directory."),
  }),
  TeamAdoptRequest: z.strictObject({ agent: text.min(1).describe("The slug of a member, or its name.") }),
  TeamAdopted: z.object({
    agent: z.string(),
    file: z.string().describe("Its note, below the team directory."),
    changed: z.boolean().describe("False: Cortex worked on its tasks already."),
    isInactive: z.boolean().describe("It gets no ticks before its note says `status: active`."),
  }),
  TeamTickRequest: z.strictObject({ agent: text.min(1).optional().describe("Absent: everybody.") }),
  TeamTick: z.object({
    members: z
      .array(
        z.object({
          agent: z.string(),
          state: z.enum(BEATS),
          task: z.object({ title: z.string(), ordinal: z.number() }).nullable(),
          detail: z.string().nullable(),
        }),
      )
      .readonly(),
  }),
  TeamHousekeeping: z.object({
    removed: z.array(z.object({ slug: z.string(), title: z.string(), completed: z.string() })).readonly(),
    trimmed: z.array(z.string()).readonly(),
    committed: z.string().nullable().describe("The id of the commit."),
    uncommitted: z.string().nullable().describe("Why there is none."),
    isPostponed: z.boolean().describe("Nothing was pruned, because git has refused to commit it."),
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
