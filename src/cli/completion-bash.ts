import { type Named, type Place, quoted, stepsOf, valuesOf } from "./completion-places.ts";

/** For bash 3.2, which macOS has, and newer. That one only completes no names of files. */
export function bashCompletion(places: readonly Place[]): string {
  return `# Completion of cortex for bash. In ~/.bashrc: source <(cortex completion bash)
_cortex() {
  local at=cortex value= commands= options= files= i
  local word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      *' --') compopt -o default 2>/dev/null; return ;;
      ${oneOf(stepsOf(places))}) at="$at \${COMP_WORDS[i]}" ;;
      ${oneOf(valuesOf(places, "file"))}) ((++i == COMP_CWORD)) && value=file ;;
      ${oneOf(valuesOf(places, "folder"))}) ((++i == COMP_CWORD)) && value=folder ;;
      ${oneOf(valuesOf(places, "other"))}) ((++i == COMP_CWORD)) && value=other ;;
    esac
  done
  case "$value" in
    file) compopt -o default 2>/dev/null; return ;;
    folder) compopt -o dirnames 2>/dev/null; return ;;
    other) return ;;
  esac
  case "$at" in
${places.map(describePlace).join("\n")}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *)
      COMPREPLY=($(compgen -W "$commands" -- "$word"))
      [ -n "$files" ] && compopt -o default 2>/dev/null
      ;;
  esac
}
complete -F _cortex cortex cortexd
`;
}

function describePlace({ path, commands, options, takesFiles }: Place): string {
  const files = takesFiles ? " files=1" : "";
  return `    ${quoted(path)}) commands=${names(commands)} options=${names(options)}${files} ;;`;
}

/** A pattern for `case` must not be empty. */
function oneOf(paths: readonly string[]): string {
  return paths.length === 0 ? quoted("") : paths.map(quoted).join(" | ");
}

function names(list: readonly Named[]): string {
  return quoted(list.map(({ name }) => name).join(" "));
}
