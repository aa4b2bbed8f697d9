/** Days on which agents work for the owner that they do not talk to: workers, relays, programs and members of a team. */
import { call } from "../attack.ts";
import { type Day, edit, fetchPage, happens, list, read, run, search, talk, talkIn, write } from "./day.ts";

const give = (task: string, wait = true) => call("dispatch_to_agent", { agent: "main", task, wait });

export const DELEGATING: readonly Day[] = [
  {
    name: "a search given to a worker",
    talks: [
      talk(
        "Have somebody find out how long oak logs dry.",
        [give("TASK how long oak logs dry")],
        "Two years.",
      ),
      talk("Note it.", [write("wood.md", "Oak: two years.\n")], "Noted."),
    ],
    workers: {
      "TASK how long oak logs dry": [
        [search("how long oak logs dry")],
        [fetchPage("how-long-oak-logs-dry/1")],
        "Two years.",
      ],
    },
  },
  {
    name: "two searches at the same time",
    talks: [
      talk(
        "Let two workers compare tents and sleeping bags, then write camping.md.",
        [give("TASK compare tents"), give("TASK compare sleeping bags")],
        [write("camping.md", "Tent: A. Bag: B.\n")],
        "Written.",
      ),
    ],
    workers: {
      "TASK compare tents": [
        [search("best tents")],
        [fetchPage("best-tents/1"), fetchPage("best-tents/2")],
        "A.",
      ],
      "TASK compare sleeping bags": [[search("sleeping bags")], [fetchPage("sleeping-bags/3")], "B."],
    },
  },
  {
    name: "work that comes back later",
    files: { "notes/ideas.md": "- a swing\n- a sandpit\n" },
    talks: [
      talk(
        "Have my ideas sorted by somebody, I do not wait.",
        [give("TASK sort the ideas", false)],
        "It is given.",
      ),
      talkIn("later", "What is the weather like?", "Ask me with a place."),
    ],
    workers: {
      "TASK sort the ideas": [[list()], "Sandpit, swing."],
      "Sandpit, swing.": ["They are sorted."],
    },
  },
  {
    name: "a question between agents",
    talks: [
      talk(
        "Tell main that I am away tomorrow.",
        [call("send_message_to_agent", { to: "main", content: "NOTE the owner is away tomorrow" })],
        "Told.",
      ),
      talk(
        "And put it into MEMORY.md.",
        [edit("MEMORY.md", "# Memory", "# Memory\n- Away tomorrow.")],
        "Done.",
      ),
    ],
    workers: { "NOTE the owner is away tomorrow": ["Good to know."] },
  },
  {
    name: "a change implemented and reviewed",
    files: { "app/src/sum.js": "export const sum = (a, b) => a - b;\n" },
    talks: [
      talk(
        "Have sum mended and reviewed.",
        [call("relay_start", { template: "change", message: "MEND sum", wait: true })],
        "Mended.",
      ),
      talk("Show me the file.", [read("app/src/sum.js")], "It adds now."),
      talk("Run it.", [run("cat app/src/sum.js")], "It works."),
    ],
    workers: {
      "IMPLEMENT MEND sum": [
        [read("app/src/sum.js")],
        [edit("app/src/sum.js", "a - b", "a + b"), write("{{artifact}}", "sum adds.\n")],
        "Done.",
      ],
      "REVIEW MEND sum": [[read("{{artifact}}")], "It is right."],
    },
  },
  {
    name: "a text written and reviewed with sources",
    talks: [
      talk(
        "Have a page about tides written and reviewed.",
        [call("relay_start", { template: "change", message: "TEXT tides", wait: true })],
        [write("tides.md", "The moon pulls.\n")],
        "tides.md",
      ),
      talk("How high are tides in Brest?", [search("How high are tides in Brest")], "Seven metres."),
    ],
    workers: {
      "IMPLEMENT TEXT tides": [
        [search("tides explained")],
        [fetchPage("tides-explained/1")],
        [write("{{artifact}}", "The moon pulls.\n")],
        "Done.",
      ],
      "REVIEW TEXT tides": [[read("{{artifact}}")], "It is right."],
    },
  },
  {
    name: "a review that asks for more",
    talks: [
      talk(
        "Plan a garden shed in a relay.",
        [call("relay_start", { template: "change", message: "PLAN shed", wait: true })],
        "The plan is there.",
      ),
      talk("What does it say about the roof?", "It slopes."),
    ],
    workers: {
      "IMPLEMENT PLAN shed": [[write("{{artifact}}", "A roof that slopes.\n")], "Done."],
      "REVIEW PLAN shed": [
        [read("{{artifact}}")],
        [edit("{{artifact}}", "slopes", "slopes to the north")],
        "Done.",
      ],
    },
  },
];

export const AUTOMATING: readonly Day[] = [
  {
    name: "a build that reports by webhook",
    talks: [
      happens(
        "webhook",
        "BUILD 12 has failed in cart.test.js",
        [write("builds.md", "12: failed\n")],
        "Noted.",
      ),
      talk("How are the builds?", [read("builds.md")], "Build 12 has failed."),
      happens("webhook", "BUILD 13 has passed", "Good."),
    ],
  },
  {
    name: "receipts dropped into a folder",
    talks: [
      happens("file", "RECEIPT 12 EUR for paper", [write("receipts.md", "- paper 12 EUR\n")], "Filed."),
      talk("What did I spend?", [read("receipts.md")], "12 EUR."),
    ],
  },
  {
    name: "a reminder to the owner's own place",
    talks: [
      talk(
        "Send me a note by my webhook: call Ines.",
        [call("message", { channel: "webhook", place: "owner", content: "Call Ines." })],
        "Sent.",
      ),
      talk("Write it down, too.", [write("todo.md", "- call Ines\n")], "Done."),
      talk(
        "Also send me my list.",
        [read("todo.md")],
        [call("message", { channel: "webhook", place: "owner", content: "- call Ines" })],
        "Sent.",
      ),
    ],
  },
];

/** Each has a team of its own, because days of one team would read what the others have left. */
export const TEAMWORK: readonly Day[] = [
  {
    name: "a task for a member",
    agent: "chief-of-staff",
    talks: [
      talk(
        "Have dev add tests.",
        [call("dispatch_task", { agent: "dev", title: "TASK add tests", body: "For all." })],
        "Given.",
      ),
      happens("tick", "TASK add tests", [write("tests.md", "Tests.\n")], "Added."),
      talk("How does it stand?", [call("team_status", {})], "Done."),
    ],
  },
  {
    name: "a morning with the team",
    agent: "chief-of-staff",
    talks: [
      talk("Good morning. What is up?", [call("briefing", {})], "Nothing is blocked."),
      talk("Who is there?", [call("list_team", {})], "dev."),
      talk(
        "Which holidays are there in Belgium this month?",
        [search("holidays in Belgium this month")],
        "One.",
      ),
    ],
  },
  {
    name: "a task that needs the web",
    agent: "chief-of-staff",
    talks: [
      talk(
        "Have dev look up how caches expire.",
        [call("dispatch_task", { agent: "dev", title: "TASK how caches expire" })],
        "Given.",
      ),
      happens(
        "tick",
        "TASK how caches expire",
        [search("how caches expire")],
        [fetchPage("how-caches-expire/1")],
        [write("caches.md", "By age.\n")],
        "By age.",
      ),
      talk("What was done in the meantime?", [call("review", {})], "Caches were looked up."),
    ],
  },
  {
    name: "an evening with the team",
    agent: "chief-of-staff",
    talks: [
      talk("What was done today?", [call("review", {})], "Nothing yet."),
      talk("Tidy up the files of the team.", [call("housekeeping", {})], "Tidy."),
      talk("Thanks, that is all.", "Good night."),
    ],
  },
];
