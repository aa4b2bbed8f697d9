import { type Named, type Place, quoted, stepsOf, valuesOf } from "./completion-places.ts";

/** One function that says all that can come next: a condition for each command would be asked with every Tab. */
export function fishCompletion(places: readonly Place[]): string {
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
            case ${oneOf(stepsOf(places))}
                set at "$at $word"
            case ${oneOf(valuesOf(places, "file"))}
                set value file
            case ${oneOf(valuesOf(places, "folder"))}
                set value folder
            case ${oneOf(valuesOf(places, "other"))}
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
${places.map(describePlace).join("\n")}
    end
end
complete -c cortex -f -a '(__cortex_next)'
complete -c cortexd -f -a '(__cortex_next)'
`;
}

function describePlace({ path, commands, options, takesFiles }: Place): string {
  return [
    `        case ${quoted(path)}`,
    `            printf '%s\\t%s\\n' ${list([...commands, ...options])}`,
    ...(takesFiles ? ["            __fish_complete_path (commandline -ct)"] : []),
  ].join("\n");
}

function oneOf(paths: readonly string[]): string {
  return paths.length === 0 ? quoted("") : paths.map(quoted).join(" ");
}

function list(named: readonly Named[]): string {
  return named.map(({ name, about }) => `${quoted(name)} ${quoted(about)}`).join(" ");
}
