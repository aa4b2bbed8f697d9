/** Commands that change the members of a team and their projects. */
import { adaptMember, addTeamProject, importTeam, leaveOwnTeam, registerInTeam } from "../members/setup.ts";
import { adoptMember, describeAdoption } from "../members/adopt-member.ts";
import { type Invocation, listOf, text } from "../../feature/command.ts";
import { findServer } from "../../client/server.ts";
import { openTeam } from "./look-commands.ts";
import { teamLocation } from "./flags.ts";
import { harmless, indent } from "../../terminal/text.ts";

export async function register(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const [newName = ""] = args;
  const location = teamLocation(given);
  const member = await registerInTeam(location, {
    name: newName,
    project: text(given, "project") ?? location.workingDir,
    role: text(given, "role"),
    projects: listOf(given, "projects"),
    capabilities: listOf(given, "capabilities"),
    isForeign: options["foreign"] === true,
  });
  const { name, slug, project, notePath, isManaged, projectPaths } = member;
  print.data(member, () =>
    harmless(
      [
        `${name} is on the team as ${slug} and works in ${project}.`,
        `Note: ${notePath}`,
        ...projectPaths.map((path) => `New project note: ${path}`),
      ].join("\n"),
    ),
  );
  if (print.json) return;
  print.note(
    isManaged
      ? `Next: \`cortex team dispatch ${slug} "<title>" "<instructions>"\` gives it a task.`
      : `Next: \`cortex team adapter <runtime> ${slug}\` adds instructions for its program.`,
  );
}

export async function project(given: Invocation): Promise<void> {
  const [name = ""] = given.args;
  const next = text(given, "next");
  const note = text(given, "note");
  const added = await addTeamProject(teamLocation(given), {
    name,
    ...(next === undefined ? {} : { nextActions: [next] }),
    ...(note === undefined ? {} : { notes: [note] }),
  });
  given.print.data(added, () => (added.isNew ? `Wrote ${added.path}` : `Added to ${added.path}`));
}

export async function adapter(given: Invocation): Promise<void> {
  const [runtime = "", agent] = given.args;
  const adapted = await adaptMember(teamLocation(given), { agent, runtime });
  given.print.data(adapted, () =>
    harmless(`${adapted.slug}, in ${adapted.project}\n${indent(adapted.files.map(fileLine).join("\n"))}`),
  );
}

export async function adopt(given: Invocation): Promise<void> {
  const [name = ""] = given.args;
  const team = await openTeam(given);
  const adopted = await adoptMember(name, await team.read(), team.folder);
  const { slug: agent, notePath: file, changed, isInactive } = adopted;
  given.print.data({ agent, file, changed, isInactive }, () => harmless(describeAdoption(adopted)));
  const { print, home } = given;
  if (print.json || isInactive) return;
  print.note(
    (await findServer(home)) === undefined
      ? "The server is not running. Start it with `cortex up`."
      : `Run \`cortex team tick ${agent}\` to have it look for work now.`,
  );
}

export async function leave(given: Invocation): Promise<void> {
  const left = await leaveOwnTeam(teamLocation(given), given.args[0]);
  const { slug, changed, notePath, files } = left;
  const outcome = changed ? `${slug} has left the team` : `${slug} had already left the team`;
  given.print.data({ ...left, project: left.project ?? null }, () =>
    harmless(
      [
        `${outcome}. To bring it back, set \`status: active\` in ${notePath}.`,
        ...files.map((file) => `  ${fileLine(file)}`),
      ].join("\n"),
    ),
  );
}

export async function importLegacyTeam(given: Invocation): Promise<void> {
  const imported = await importTeam(teamLocation(given));
  const { members, tasks, left } = imported;
  given.print.data(imported, () =>
    harmless(
      [
        ...members.map(({ slug, from, to }) => `Member ${slug}: ${from} is now ${to}`),
        ...tasks.map(({ slug, title, from }) => `Task of ${slug}: ${title} (from ${from})`),
        ...left.map(({ file, why, hint }) => `Left ${file}: ${why}\n  ${hint}`),
        ...(members.length + tasks.length === 0 ? ["Nothing to import."] : []),
      ].join("\n"),
    ),
  );
}

function fileLine({ action, path }: { readonly action: string; readonly path: string }): string {
  return `${action.padEnd(7)} ${path}`;
}
