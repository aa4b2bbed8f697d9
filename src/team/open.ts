import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import { prepareTeam } from "./prepare-team.ts";
import { carryOutTeam } from "./surface/chat-commands.ts";
import { parseTeamCommand, TEAM_USAGE } from "./surface/chat-command-syntax.ts";

export function openTeamwork(ports: Ports): OpenFeature {
  const { settings, slots, apis, outcomes, live } = ports;
  const team = prepareTeam({
    ...ports,
    timezone: () => settings.config().timezone,
    withSlot: slots.withSlot.bind(slots),
    relays: apis.relays,
    settled: (item, signal) => outcomes.wait(item, signal),
    onChange: () => live.announce("team.changed"),
  });
  return {
    api: { team },
    chat: {
      usage: TEAM_USAGE.split("\n"),
      parse(text) {
        const command = parseTeamCommand(text);
        return command && (() => carryOutTeam(command, team));
      },
    },
    start: () => team.start(),
    configChanged: () => team.lookAgain(),
    situation: () => team.situation(),
    sharedFolder: () => team.root(),
    [Symbol.asyncDispose]: () => team[Symbol.asyncDispose](),
  };
}
