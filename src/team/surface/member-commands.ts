/** Who is in a team, what they work on, and what their projects tell other programs. */
import { adaptMember, addTeamProject, importTeam, leaveOwnTeam, registerInTeam } from "../members/setup.ts";
import { adoptMember, describeAdoption } from "../members/adopt-member.ts";
import { type Invocation, listOf, text } from "../../feature/command.ts";
import { findServer } from "../../client/server.ts";
import { openTeam } from "./look-commands.ts";
import { teamLocation } from "./flags.ts";
import { harmless, indent } from "../../terminal/text.ts";

export async function register(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const sources = teamLocation(given);
  const member = await registerInTeam(sources, {
    name: args[0]!,
    project: text(given, "project") ?? sources.workingDir,
    role: text(given, "role"),
    projects: listOf(given, "projects"),
    capabilities: listOf(given, "capabilities"),
    isForeign: options["foreign"] === true,
  });
  const { name, slug, project, notePath, isManaged, projectPaths } = member;
  print.data(member, () =>
    harmless(
      [
        `${name} is on the team as ${slug}, and works in ${project}.`,
        `The note is ${notePath}.`,
        ...projectPaths.map((path) => `A note for its project is new: ${path}.`),
      ].join("\n"),
    ),
  );
  if (print.json) return;
  print.note(
    isManaged
      ? `Give it work: \`cortex team dispatch ${slug} "<title>" "<what is to be done>"\`.`
      : `Tell its program how to take part: \`cortex team adapter <runtime> ${slug}\`.`,
  );
}

export async function project(given: Invocation): Promise<void> {
  const next = text(given, "next");
  const note = text(given, "note");
  const made = await addTeamProject(teamLocation(given), {
    name: given.args[0]!,
    ...(next === undefined ? {} : { nextActions: [next] }),
    ...(note === undefined ? {} : { notes: [note] }),
  });
  given.print.data(made, () => (made.isNew ? `Wrote ${made.path}` : `Added to ${made.path}`));
}

export async function adapter(given: Invocation): Promise<void> {
  const [runtime, agent] = given.args;
  const adapted = await adaptMember(teamLocation(given), { agent, runtime: runtime! });
  given.print.data(adapted, () =>
    harmless(`${adapted.slug}, in ${adapted.project}\n${indent(adapted.files.map(fileLine).join("\n"))}`),
  );
}

export async function adopt(given: Invocation): Promise<void> {
  const team = await openTeam(given);
  const adopted = await adoptMember(given.args[0]!, await team.read(), team.folder);
  const { slug: agent, notePath: file, changed, isInactive } = adopted;
  given.print.data({ agent, file, changed, isInactive }, () => harmless(describeAdoption(adopted)));
  const { print, home } = given;
  if (print.json || isInactive) return;
  print.note(
    (await findServer(home)) === undefined
      ? "No server runs: `cortex up` starts one."
      : `\`cortex team tick ${agent}\` has it look for work now.`,
  );
}

export async function leave(given: Invocation): Promise<void> {
  const left = await leaveOwnTeam(teamLocation(given), given.args[0]);
  const { slug, changed, notePath, files } = left;
  const said = changed ? `${slug} has left the team` : `${slug} had left the team already`;
  given.print.data({ ...left, project: left.project ?? null }, () =>
    harmless(
      [
        `${said}. \`status: active\` in ${notePath} takes it back.`,
        ...files.map((file) => `  ${fileLine(file)}`),
      ].join("\n"),
    ),
  );
}

export async function takeOver(given: Invocation): Promise<void> {
  const imported = await importTeam(teamLocation(given));
  const { members, tasks, left } = imported;
  given.print.data(imported, () =>
    harmless(
      [
        ...members.map(({ slug, from, to }) => `Member ${slug}: ${from} is now ${to}`),
        ...tasks.map(({ slug, title, from }) => `Task of ${slug}: ${title} (from ${from})`),
        ...left.map(({ file, why, hint }) => `Left ${file}: ${why}\n  ${hint}`),
        ...(members.length + tasks.length === 0 ? ["There was nothing to take over."] : []),
      ].join("\n"),
    ),
  );
}

function fileLine({ action, path }: { readonly action: string; readonly path: string }): string {
  return `${action.padEnd(7)} ${path}`;
}
