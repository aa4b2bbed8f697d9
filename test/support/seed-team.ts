/** A team directory as the team protocol prints it, with nothing in it that only Cortex knows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const AGENT_TEMPLATE = `---
name: ""
project: ""
status: active
joined: ""
---
## Role

## Projects

## Capabilities

## Session Log
Last session: --
Status: registered
`;

const PROJECT_TEMPLATE = `---
type: project
created: YYYY-MM-DD
status: active
---
## Next Action

## Notes
`;

const BILLING_DEV = `---
name: Billing Dev
project: ~/Projects/billing-service
status: active
joined: 2026-03-28
---
## Role
Build and maintain the billing service.

## Projects
- billing-service — primary project

## Capabilities
- Python/FastAPI development
- Stripe integration

## Session Log
Last session: 2026-03-28
Status: active — implemented webhook endpoint
`;

const BILLING_SERVICE = `---
type: project
created: 2026-03-28
status: active
---
## Next Action
- Implement webhook handler for failed payments

## Notes
- Agent: billing-dev at ~/Projects/billing-service
- Stack: Python, FastAPI, PostgreSQL
`;

const READY_TASK = `## Add Stripe webhook endpoint
**Status:** ready

Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed
`;

const note = (name: string, project: string): string =>
  AGENT_TEMPLATE.replace('name: ""', `name: ${name}`)
    .replace('project: ""', `project: ${project}`)
    .replace('joined: ""', "joined: 2026-03-28");

export const SEED_TEAM: Readonly<Record<string, string>> = {
  "agents/chief-of-staff/chief-of-staff.md": note("Chief of Staff", "~/cortex-team"),
  "agents/chief-of-staff/tasks.md": "",
  "agents/billing-dev/billing-dev.md": BILLING_DEV,
  "agents/billing-dev/tasks.md": READY_TASK,
  "agents/dashboard-dev/dashboard-dev.md": note("Dashboard Dev", "~/Projects/dashboard"),
  "agents/dashboard-dev/tasks.md": "",
  "projects/billing-service.md": BILLING_SERVICE,
  "projects/dashboard.md": PROJECT_TEMPLATE.replace("YYYY-MM-DD", "2026-03-28"),
  "templates/agent-template.md": AGENT_TEMPLATE,
  "templates/project-template.md": PROJECT_TEMPLATE,
};

/** In `~/cortex-team`, with the projects that it names. */
export function writeSeedTeam(user: string): string {
  const team = join(user, "cortex-team");
  for (const project of ["billing-service", "dashboard"])
    mkdirSync(join(user, "Projects", project), { recursive: true });
  for (const [path, text] of Object.entries(SEED_TEAM)) {
    mkdirSync(dirname(join(team, path)), { recursive: true });
    writeFileSync(join(team, path), text);
  }
  return team;
}
