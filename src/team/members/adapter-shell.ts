/**
 * Shell functions for other runtimes to edit task files: under Cortex's lock, changing only the lines they must. They need a
 * POSIX shell and awk, and nothing of Cortex.
 */

/** Quotes text as one shell word. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Edits a task file of the team. All other functions use it. */
export function editFunction(teamRoot: string): string {
  return `# team_edit <slug> <awk program>: edits that member's tasks.md under its lock.
team_edit() (
  cd ${shellQuote(teamRoot)}/agents/"$1" || exit 1
  tries=0
  until (set -o noclobber; echo "$$ $(uname -n) $(date)" >.tasks.md.lock) 2>/dev/null; do
    tries=$((tries + 1)); [ "$tries" -lt 600 ] || exit 1
    find .tasks.md.lock -mmin +1 -delete 2>/dev/null # left behind by a dead process
    sleep 0.1
  done
  trap 'rm -f .tasks.md.lock .tasks.md.new' EXIT
  cp -p tasks.md .tasks.md.new && # the same owner and mode
    awk -v now="$(date +%Y-%m-%dT%H:%M)" "$2" tasks.md >|.tasks.md.new || exit 1
  cmp -s .tasks.md.new tasks.md || mv .tasks.md.new tasks.md
)`;
}

export function workerFunctions(slug: string): string {
  return `# take: claims the first ready task and prints its title; prints nothing if none is ready.
take() { team_edit ${slug} '${READING}
  meta && /^[*][*]Status:/ {
    meta = 0
    if (!taken && /^[*][*]Status:[*][*][ \\t]*ready[ \\t\\r]*$/) {
      sub(/ready/, "in-progress"); print; print "**Started:** " now
      print title >"/dev/stderr"; taken = 1; next
    }
  }
  { print }'; }

# finish <title> <summary>: marks a task in progress as done.
finish() ( export title="$1" summary="$2"; team_edit ${slug} '
  function completed() { if (open) print "**Completed:** " now; open = 0 }
  function end(last) {
    completed()
    if (mine) {
      text = "\\n" ENVIRON["summary"]; gsub(/\\n##? /, "\\n#### ", text)
      printf "\\n### Summary%s\\n%s", text, (blank == "" && !last ? "\\n" : blank)
    } else printf "%s", blank
    mine = 0; blank = ""
  }
  !fence && /^(## |<!-- cortex:last-tick )/ { end(0) }${READING}
  meta && /^[*][*]Status:/ {
    meta = 0
    if (!found && title == ENVIRON["title"] && /^[*][*]Status:[*][*][ \\t]*in-progress[ \\t\\r]*$/) {
      sub(/in-progress/, "done"); print; mine = open = found = 1; next
    }
  }
  open && /^[*][*]Started:/ { print; completed(); next }
  { completed() }
  mine && /^[ \\t\\r]*$/ { blank = blank $0 "\\n"; next }
  { printf "%s", blank; blank = ""; print }
  END { end(1) }'; )`;
}

/** Tracks code blocks and multi-line comments, which contain no tasks. */
const FENCES = `
  {
    if (fence) { if (fence == "<!--" ? /-->/ : index($0, fence) == 1) fence = "" }
    else if (match($0, /^(\`\`\`+|~~~+|<!--)/) && !/-->/ && !/^\`\`\`+[^\`]*\`/) fence = substr($0, 1, RLENGTH)
  }`;

/** Tracks tasks: a heading outside of code, with the status among the lines right below it. */
const READING = `${FENCES}
  !fence && /^## / { title = substr($0, 4); sub(/[ \\t\\r]+$/, "", title); meta = 1; print; next }
  !/^[*][*][A-Z][a-z]+:[*][*]/ && !/^[ \\t\\r]*$/ { meta = 0 }`;

const TICK = String.raw`/^<!-- cortex:last-tick .* -->[ \t\r]*$/`;
const BLANK = String.raw`/^[ \t\r]*$/`;

/** A tick at the end is always replaced: with an unclosed fence, ticks would otherwise pile up. */
export function tickFunction(slug: string): string {
  return `# tick: reports that you are at work.
tick() { team_edit ${slug} '${FENCES}
  ${TICK} { if (fence) held = held $0 "\\n"; next }
  held && ${BLANK} { held = held $0 "\\n"; next }
  { printf "%s", held; held = ""; print }
  END { print "<!-- cortex:last-tick " now " -->" }'; }`;
}

export function coordinatorFunctions(): string {
  return `# dispatch <slug> <title> <what to do>: adds a task for that member.
dispatch() ( export title="$2" body="$3"; team_edit "$1" '${FENCES}
  !fence && ${TICK} { tick = $0; next }
  { print; last = $0 }
  END {
    body = "\\n" ENVIRON["body"]; gsub(/\\n##? /, "\\n### ", body)
    if (last ~ /[^ \\t\\r]/) print ""
    printf "## %s\\n**Status:** ready\\n%s\\n\\n", ENVIRON["title"], body
    if (tick != "") print tick
  }'; )`;
}
