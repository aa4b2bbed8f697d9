/** The tool with which a worker flags its task. */
export const FLAG_TOOL = "flag_task";
/** The coordinator's tools. */
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
