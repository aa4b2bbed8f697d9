import { shellQuote } from "./adapter-shell.ts";

/** Tells our script from one of the same name that somebody else has written. */
export const PRECHECK_MARK = "# Written by `cortex team adapter`";

/**
 * A hook of Claude Code that sees each prompt first. Heartbeats of a worker that has nothing to do end here, before a
 * model is asked; when in doubt, they pass.
 */
export function precheckScript({ slug, tasks }: { slug: string; tasks: string }): string {
  return `#!/bin/sh
${PRECHECK_MARK} for ${slug}; \`cortex team leave ${slug}\` removes it.
# Blocks "Cortex tick:" prompts while no task is ready or in progress. Any other prompt passes.
tasks=${shellQuote(tasks)}

command -v jq >/dev/null 2>&1 || exit 0
case "$(jq -r '.prompt // empty' 2>/dev/null)" in
  "Cortex tick:"*) ;;
  *) exit 0 ;;
esac

[ -e "$tasks" ] && grep -Eq '^[[:space:]]*\\*\\*Status:\\*\\*[[:space:]]*(ready|in-progress)[[:space:]]*(<!--|$)' "$tasks"
[ $? -eq 1 ] || exit 0
echo '{"decision":"block","reason":"No active tasks"}' >&2
exit 2
`;
}
