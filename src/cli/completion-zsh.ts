import { type Named, type Place, quoted, stepsOf, valuesOf } from "./completion-places.ts";

/** With what each command and option is for. Works sourced, and as a file `_cortex` in `fpath`. */
export function zshCompletion(places: readonly Place[]): string {
  return `#compdef cortex cortexd
# Completion of cortex for zsh. In ~/.zshrc, after compinit: source <(cortex completion zsh)
_cortex() {
  local at=cortex value= files= i
  local -a subcommands flags # zsh has others called commands and options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (*' --') _files; return ;;
      (${oneOf(stepsOf(places))}) at="$at \${words[i]}" ;;
      (${oneOf(valuesOf(places, "file"))}) ((++i == CURRENT)) && value=file ;;
      (${oneOf(valuesOf(places, "folder"))}) ((++i == CURRENT)) && value=folder ;;
      (${oneOf(valuesOf(places, "other"))}) ((++i == CURRENT)) && value=other ;;
    esac
  done
  case "$value" in
    (file) _files; return ;;
    (folder) _files -/; return ;;
    (other) return 1 ;;
  esac
  case "$at" in
${places.map(describePlace).join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option flags
  else
    [[ -n "$files" ]] && _files
    ((\${#subcommands} > 0)) && _describe command subcommands
  fi
}
if [[ "\${funcstack[1]}" == _cortex ]]; then
  _cortex "$@"
else
  compdef _cortex cortex cortexd
fi
`;
}

function describePlace({ path, commands, options, takesFiles }: Place): string {
  const files = takesFiles ? "; files=1" : "";
  return `    (${quoted(path)}) subcommands=(${list(commands)}); flags=(${list(options)})${files} ;;`;
}

/** A pattern for `case` must not be empty. */
function oneOf(paths: readonly string[]): string {
  return paths.length === 0 ? quoted("") : paths.map(quoted).join(" | ");
}

function list(named: readonly Named[]): string {
  return named.map(({ name, about }) => quoted(`${name}:${about}`)).join(" ");
}
