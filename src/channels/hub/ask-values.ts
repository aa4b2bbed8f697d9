/** Asks a person for the values of a channel, step by step, until the platform takes them. */
import type { Prompts } from "../../terminal/prompts.ts";
import { indent } from "../../terminal/text.ts";
import type { ChannelModule, Finding, SetupStep } from "../channel.ts";
import type { AskedValue, NewValues } from "./asked-values.ts";
import { describeFindings } from "./describe.ts";
import { hasFailed } from "./probe.ts";

interface Asking {
  readonly module: Pick<ChannelModule, "setup">;
  readonly asked: readonly AskedValue[];
  readonly prompts: Prompts;
  /** Whether only secrets are asked for. */
  readonly onlySecrets: boolean;
  readonly probe: (values: NewValues) => Promise<readonly Finding[]>;
}

/** Undefined: the person has stopped. */
export async function askValues(
  asking: Asking,
): Promise<{ readonly values: NewValues; readonly findings: readonly Finding[] } | undefined> {
  const { prompts, probe } = asking;
  let isFirst = true;
  for (;;) {
    const values = await askOnce(asking, isFirst);
    if (values === undefined) return undefined;
    prompts.say("\nChecking …");
    const findings = await untilClosed(probe(values), prompts);
    if (findings === undefined) return undefined;
    prompts.say(describeFindings(findings));
    if (!hasFailed(findings)) return { values, findings };
    const answer = await prompts.ask("\nEnter asks again; `keep` saves it anyway: ");
    if (answer === undefined) return undefined;
    if (/^k(eep)?$/i.test(answer)) return { values, findings };
    isFirst = false;
  }
}

async function askOnce(
  { module, asked, prompts, onlySecrets }: Asking,
  isFirst: boolean,
): Promise<NewValues | undefined> {
  const values = new Map<string, string>();
  const steps = onlySecrets ? module.setup.filter(({ asks }) => asks?.secret === true) : module.setup;
  for (const [at, step] of steps.entries()) {
    if (isFirst) prompts.say(describeStep(step, steps.length > 1 ? `${at + 1}. ` : ""));
    const value = asked.find(({ setting }) => setting === step.asks?.setting);
    if (value === undefined) continue;
    const answer = await askValue(value, prompts);
    if (answer === undefined) return undefined;
    if (answer !== "") values.set(value.setting, answer);
  }
  return values;
}

function describeStep({ title, text, url }: SetupStep, number: string): string {
  return [`\n${number}${title}`, indent(text), ...(url === undefined ? [] : [indent(url)])].join("\n");
}

/** Empty: it stays as it is. Undefined: the person has stopped. */
async function askValue(value: AskedValue, prompts: Prompts): Promise<string | undefined> {
  const { setting, variable, example, current, isOptional } = value;
  const kept = current === undefined ? undefined : `Enter keeps the value in ${current.from}`;
  const notes = [
    variable === undefined ? `such as ${example}` : "hidden",
    kept ?? (isOptional ? "optional" : undefined),
  ].filter((note) => note !== undefined);
  const question = `${variable ?? setting} (${notes.join("; ")}): `;
  for (;;) {
    const answer = await (variable === undefined ? prompts.ask(question) : prompts.askHidden(question));
    if (answer === undefined || answer !== "" || kept !== undefined || isOptional) return answer;
    prompts.say("It needs a value. Ctrl-C stops without changing anything.");
  }
}

/** Undefined: the person did not wait for it. */
async function untilClosed<Result>(work: Promise<Result>, { closed }: Prompts): Promise<Result | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  const stop = (): void => stopped.resolve(undefined);
  closed.addEventListener("abort", stop);
  try {
    return await (closed.aborted ? undefined : Promise.race([work, stopped.promise]));
  } finally {
    closed.removeEventListener("abort", stop);
  }
}
