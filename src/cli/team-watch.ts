/** The team as it is, and as it becomes. In a terminal it is drawn anew; elsewhere it is told again when it changes. */
import { type TeamView, teamView } from "../runtime/team-views.ts";
import type { Invocation } from "./command.ts";
import { Screen } from "./screen.ts";
import { openTeam } from "./team.ts";
import { describeTeam } from "./team-text.ts";
import { moment } from "./text.ts";

/** Ages grow, and who does not tick goes down, without any file that changes. */
const LOOK_MS = 15_000;

export async function watch(given: Invocation): Promise<void> {
  const { print } = given;
  const team = await openTeam(given);
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    over.resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  using screen = process.stdout.isTTY && !print.json ? new Screen(end) : undefined;
  let told: string | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    const view = teamView(await team.status(), print.json ? "all" : "active");
    if (isOver) return;
    if (screen !== undefined) return screen.draw(page(view, print.style));
    const now = withoutTime(view);
    if (now !== told) print.data(view, () => `${moment(view.at)}\n${describeTeam(view, print.style)}\n`);
    told = now;
  }

  /** One after the other, each after what it is told of. */
  const lookSoon = (): void => {
    looking = looking.then(look).catch(over.reject);
  };

  await using _ = await team.watch(lookSoon);
  lookSoon();
  const timer = setInterval(lookSoon, LOOK_MS);
  process.stdout.on("resize", lookSoon);
  try {
    await over.promise;
  } finally {
    isOver = true;
    clearInterval(timer);
    process.stdout.off("resize", lookSoon);
  }
}

function page(view: TeamView, style: Invocation["print"]["style"]): string {
  return `${describeTeam(view, style)}\n\n${style("dim", `${moment(view.at)} · q ends it`)}`;
}

const GROWING: ReadonlySet<string> = new Set(["at", "ageMs", "forMs"]);

/** The same as long as nothing has happened, however late it is. */
export function withoutTime(view: TeamView): string {
  return JSON.stringify(view, (key, value: unknown) => (GROWING.has(key) ? undefined : value));
}
