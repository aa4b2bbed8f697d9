/**
 * Shell completion, generated from the table of commands. The scripts are self-contained: pressing Tab starts no process
 * of ours.
 */
import { CortexError } from "../model/errors.ts";
import type { Command, Invocation } from "../feature/command.ts";
import {
  type CommandPlace,
  type CommandWord,
  placesOf,
  quoted,
  stepsOf,
  valuesOf,
} from "./completion-places.ts";

const SHELLS = { bash: bashCompletion, fish: fishCompletion, zsh: zshCompletion } as const;

export async function completion({ args, print }: Invocation, commands: readonly Command[]): Promise<void> {
  const [shell = ""] = args;
  const script = writeCompletion(shell, commands);
  print.data({ shell, script }, () => script.trimEnd());
}

export function writeCompletion(shell: string, commands: readonly Command[]): string {
  const write = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
  if (write === undefined)
    throw new CortexError("usage", `Unknown shell "${shell}"`, {
      hint: `Supported shells: ${Object.keys(SHELLS).join(", ")}.`,
    });
  return write(placesOf(commands));
}

/** Works with bash 3.2, as on macOS, and newer; only file names are not completed there. */
function bashCompletion(places: readonly CommandPlace[]): string {
  return `# Completion of cortex for bash. In ~/.bashrc: source <(cortex completion bash)
_cortex() {
  local at=cortex value= commands= options= files= i
  local word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      *' --') compopt -o default 2>/dev/null; return ;;
      ${casePattern(stepsOf(places))}) at="$at \${COMP_WORDS[i]}" ;;
      ${casePattern(valuesOf(places, "file"))}) ((++i == COMP_CWORD)) && value=file ;;
      ${casePattern(valuesOf(places, "folder"))}) ((++i == COMP_CWORD)) && value=folder ;;
      ${casePattern(valuesOf(places, "other"))}) ((++i == COMP_CWORD)) && value=other ;;
    esac
  done
  case "$value" in
    file) compopt -o default 2>/dev/null; return ;;
    folder) compopt -o dirnames 2>/dev/null; return ;;
    other) return ;;
  esac
  case "$at" in
${places.map(bashCase).join("\n")}
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

function bashCase({ path, commands, options, takesFiles }: CommandPlace): string {
  const files = takesFiles ? " files=1" : "";
  return `    ${quoted(path)}) commands=${wordList(commands)} options=${wordList(options)}${files} ;;`;
}

/** A pattern of `case`, which must not be empty. */
function casePattern(paths: readonly string[]): string {
  return paths.length === 0 ? quoted("") : paths.map(quoted).join(" | ");
}

function wordList(list: readonly CommandWord[]): string {
  return quoted(list.map(({ name }) => name).join(" "));
}

/** With descriptions. Works sourced, and as a file `_cortex` in `fpath`. */
function zshCompletion(places: readonly CommandPlace[]): string {
  return `#compdef cortex cortexd
# Completion of cortex for zsh. In ~/.zshrc, after compinit: source <(cortex completion zsh)
_cortex() {
  local at=cortex value= files= i
  local -a subcommands flags # zsh has others called commands and options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (*' --') _files; return ;;
      (${casePattern(stepsOf(places))}) at="$at \${words[i]}" ;;
      (${casePattern(valuesOf(places, "file"))}) ((++i == CURRENT)) && value=file ;;
      (${casePattern(valuesOf(places, "folder"))}) ((++i == CURRENT)) && value=folder ;;
      (${casePattern(valuesOf(places, "other"))}) ((++i == CURRENT)) && value=other ;;
    esac
  done
  case "$value" in
    (file) _files; return ;;
    (folder) _files -/; return ;;
    (other) return 1 ;;
  esac
  case "$at" in
${places.map(zshCase).join("\n")}
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

function zshCase({ path, commands, options, takesFiles }: CommandPlace): string {
  const files = takesFiles ? "; files=1" : "";
  return `    (${quoted(path)}) subcommands=(${zshList(commands)}); flags=(${zshList(options)})${files} ;;`;
}

function zshList(named: readonly CommandWord[]): string {
  return named.map(({ name, about }) => quoted(`${name}:${about}`)).join(" ");
}

/** One function for all candidates: fish would evaluate a condition per command at every Tab. */
function fishCompletion(places: readonly CommandPlace[]): string {
  return `# Completion of cortex for fish. Save it: cortex completion fish > ~/.config/fish/completions/cortex.fish
function __cortex_next
    set -l at cortex
    set -l value
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test -n "$value"
            set value
            continue
        end
        switch "$at $word"
            case '* --'
                __fish_complete_path (commandline -ct)
                return
            case ${fishPatterns(stepsOf(places))}
                set at "$at $word"
            case ${fishPatterns(valuesOf(places, "file"))}
                set value file
            case ${fishPatterns(valuesOf(places, "folder"))}
                set value folder
            case ${fishPatterns(valuesOf(places, "other"))}
                set value other
        end
    end
    switch "$value"
        case file
            __fish_complete_path (commandline -ct)
            return
        case folder
            __fish_complete_directories (commandline -ct)
            return
        case other
            return
    end
    switch "$at"
${places.map(fishCase).join("\n")}
    end
end
complete -c cortex -f -a '(__cortex_next)'
complete -c cortexd -f -a '(__cortex_next)'
`;
}

function fishCase({ path, commands, options, takesFiles }: CommandPlace): string {
  return [
    `        case ${quoted(path)}`,
    `            printf '%s\\t%s\\n' ${fishList([...commands, ...options])}`,
    ...(takesFiles ? ["            __fish_complete_path (commandline -ct)"] : []),
  ].join("\n");
}

function fishPatterns(paths: readonly string[]): string {
  return paths.length === 0 ? quoted("") : paths.map(quoted).join(" ");
}

function fishList(named: readonly CommandWord[]): string {
  return named.map(({ name, about }) => `${quoted(name)} ${quoted(about)}`).join(" ");
}
