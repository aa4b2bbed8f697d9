/** The script of the demo's model: the same answers every time, without a key. */

export interface ScriptOptions {
  /** Delay before each answer, so that a viewer can follow. */
  readonly thinkMs: number;
  /** Delay before the second call of the turn that is killed. */
  readonly receiptMs: number;
}

/** Long enough to kill the server first on any machine. Nothing waits for it: the script is replaced by then. */
export const KILLED_CALL_DELAY_MS = 600_000;

/** The messages of the demo, which the script recognizes. */
export const MESSAGES = {
  chat: "What is left to do before the launch?",
  build: "Build the site.",
  steer: "Leave out the blog.",
  fork: "Print a leaflet instead.",
  relay: "When should a bakery open?",
  charge: "Charge order 17, then send the receipt.",
} as const;

/** Each call appends a line to one of these files. */
export const CHARGES = "charges.txt";
const RECEIPTS = "receipts.txt";

export function demoScript({ thinkMs, receiptMs }: ScriptOptions): string {
  const entries: readonly Entry[] = [
    {
      when: "left to do before the launch",
      plays: [
        { say: "Let me look at the notes.", calls: [{ tool: "Read", args: { path: "launch.md" } }] },
        { say: LEFT_TO_DO },
      ],
    },
    { when: "^Build the site", plays: [bash("sh build.sh"), { say: "The site is built." }] },
    {
      when: "^Leave out the blog",
      plays: [
        { say: "You want it without the blog. I take it out.", ...bash("rm site/blog.html && ls site") },
        { say: "The site is built, **without the blog**, as you said while I was at it." },
      ],
    },
    { when: "leaflet", plays: [{ say: "A leaflet, then: one page, folded once, 500 copies by Friday." }] },
    { when: '"order":17', plays: [{ say: "Order 17 is large: check the stock, then confirm it." }] },
    relayStep("surveyor", "Two sources are found.", {
      tool: "Write",
      args: { path: "$1", content: `${SURVEY}\n` },
    }),
    relayStep("synthesiser", "The answer is in the artifact.", append(SURVEY, ANSWER)),
    relayStep("critic", "Nothing is wrong with it.", append(ANSWER, CRITIQUE)),
    {
      when: "^Cortex tick:",
      plays: [
        {
          calls: [
            { tool: "Write", args: { path: "hours.md", content: "Open Tuesday to Saturday, 9 to 18.\n" } },
          ],
        },
        { say: "The hours are in hours.md: Tuesday to Saturday, 9 to 18." },
      ],
    },
    {
      when: "^Charge order 17",
      plays: [
        { say: "First the charge.", ...bash(`echo "order 17: 250 €" >> ${CHARGES}`) },
        { say: "Now the receipt.", ...bash(`echo "receipt 17" >> ${RECEIPTS}`), delayMs: receiptMs },
        { say: "Order 17 is **charged once**, and the receipt is sent." },
      ],
    },
  ];
  const paced = entries.map((entry) => withPauses(entry, thinkMs));
  return `${JSON.stringify(paced, null, 2)}\n`; // JSON is valid YAML
}

interface Entry {
  readonly when: string;
  readonly agent?: string;
  readonly plays: readonly Play[];
}

interface Play {
  readonly say?: string;
  readonly calls?: readonly Call[];
  readonly delayMs?: number;
}

interface Call {
  readonly tool: string;
  readonly args: object;
}

function withPauses({ plays, ...entry }: Entry, delayMs: number): Entry {
  return { ...entry, plays: plays.map((play) => ({ delayMs, ...play })) };
}

/** The prompt of a relay agent contains the path of the artifact. */
function relayStep(agent: string, say: string, call: Call): Entry {
  return { when: "(/\\S+/artifact\\.md)", agent, plays: [{ calls: [call] }, { say }] };
}

function append(after: string, text: string): Call {
  return { tool: "Edit", args: { path: "$1", edits: [{ oldText: after, newText: `${after}\n\n${text}` }] } };
}

function bash(command: string): Play {
  return { calls: [{ tool: "Bash", args: { command } }] };
}

const LEFT_TO_DO = `**Three things** are left:

| what                 | who           |
| -------------------- | ------------- |
| build the site       | me, if you like |
| say when we are open | the team      |
| tell the newspaper   | you           |
`;

const SURVEY = `# Survey

1. The order book of May: 40 orders, 31 before ten in the morning.
2. The neighbours: the market opens at eight.`;

const ANSWER = `# Answer

Open at eight: three of four orders come before ten (1), and the market brings people by then (2).`;

const CRITIQUE = `# Critique

Both sources say so.

[CRITIQUE: SOUND]`;
