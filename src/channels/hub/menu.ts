/** The menu of commands that platforms show: set when a connection goes live, and again only if the list has changed. */
import type { ChatCommands } from "../../intake/chat-commands.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { errorText } from "../../model/errors.ts";
import { MENU } from "../../queue/command.ts";
import type { Connection, MenuCommand } from "../channel.ts";

interface MenuPorts {
  readonly chats: () => readonly ChatCommands[];
  readonly log: (line: string) => void;
}

/** For one account: shows the menu through a connection that has just gone live. Nothing waits for it. */
export function openMenu({ chats, log }: MenuPorts): (connection: Connection | undefined) => void {
  let shown: string | undefined;
  return (connection) => {
    if (connection?.menu === undefined) return;
    const commands = menuOf(chats());
    const list = JSON.stringify(commands);
    if (list === shown) return;
    shown = list;
    connection.menu(commands, AbortSignal.timeout(MINUTE_MS)).catch((error: unknown) => {
      shown = undefined; // tried again when it goes live the next time
      log(`Cannot set the menu of commands: ${errorText(error)}`);
    });
  };
}

function menuOf(chats: readonly ChatCommands[]): readonly MenuCommand[] {
  return [...MENU, ...chats.flatMap(({ menu = [] }) => menu)];
}
