/** The tool by which a worker gives a task back. */
export const FLAG_TOOL = "flag_task";
/** The tools of whoever coordinates the team. */
export const COORDINATOR_TOOLS: readonly string[] = [
  "list_team",
  "dispatch_task",
  "team_status",
  "briefing",
  "review",
  "housekeeping",
  "register_agent",
  "adopt_agent",
];
