/** Days on which the owner has mail, notes and documents read. */
import {
  type Day,
  edit,
  fetchPage,
  grep,
  list,
  read,
  recall,
  run,
  search,
  talk,
  talkIn,
  write,
} from "./day.ts";

const MAIL = {
  "inbox/1-bank.eml": "From: bank@bank.example\nYour statement is ready.\n",
  "inbox/2-ines.eml": "From: ines@example.com\nCan we meet on Thursday?\n",
  "inbox/3-shop.eml": "From: shop@example.com\nYour order 77 has been shipped. Track it: {{web}}/track/77\n",
};

export const READING: readonly Day[] = [
  {
    name: "the morning's mail summarised",
    files: MAIL,
    talks: [
      talk(
        "What is in my inbox?",
        [list("inbox")],
        [read("inbox/1-bank.eml"), read("inbox/2-ines.eml"), read("inbox/3-shop.eml")],
        "The bank, Ines about Thursday, and a parcel.",
      ),
      talk(
        "Draft an answer to Ines: Thursday at ten is fine.",
        [write("drafts/ines.md", "Dear Ines, Thursday at ten is fine.\n")],
        "It is in drafts/ines.md.",
      ),
      talk("Put it into my calendar.", [write("calendar.md", "- Thursday 10:00 Ines\n")], "Done."),
    ],
  },
  {
    name: "a mail answered step by step",
    files: MAIL,
    talks: [
      talk("Which order has been shipped? The mail is in my inbox.", [read("inbox/3-shop.eml")], "Order 77."),
      talk("Note that in orders.md.", [write("orders.md", "- 77: shipped\n")], "Noted."),
      talkIn("evening", "Which orders are on their way?", [read("orders.md")], "Order 77."),
    ],
  },
  {
    name: "a contract read",
    files: { "downloads/contract.md": "# Contract\nNotice: three months to the end of a quarter.\n" },
    talks: [
      talk(
        "When can I end the contract in downloads?",
        [list("downloads")],
        [read("downloads/contract.md")],
        "By the end of June for September.",
      ),
      talk(
        "Write the notice.",
        [write("letters/notice.md", "I end the contract as of 30 September.\n")],
        "Written.",
      ),
      talkIn(
        "law",
        "Does a notice need to be on paper?",
        [search("does a notice need to be on paper")],
        "Text form is enough.",
      ),
    ],
  },
  {
    name: "notes of a meeting put in order",
    files: { "notes/meeting.md": "ines: budget 4k. me: site until june. bob: photos\n" },
    talks: [
      talk(
        "Put notes/meeting.md in order.",
        [read("notes/meeting.md")],
        [write("notes/meeting.md", "# Meeting\n- Ines: budget 4k\n- me: site until June\n- Bob: photos\n")],
        "Done.",
      ),
      talk("What do I have to do?", "The site, until June."),
      talkIn("week", "What did Bob promise?", [grep("Bob", "notes")], "Photos."),
    ],
  },
  {
    name: "mail sorted into folders",
    files: MAIL,
    talks: [
      talk(
        "Sort my inbox: bank into inbox/bank.",
        [list("inbox")],
        [run("mkdir -p inbox/bank && mv inbox/1-bank.eml inbox/bank/")],
        "Sorted.",
      ),
      talk("What is left?", [list("inbox")], "Ines and the parcel."),
      talkIn(
        "evening",
        "Any mail from the bank?",
        [list("inbox/bank")],
        [read("inbox/bank/1-bank.eml")],
        "A statement.",
      ),
    ],
  },
  {
    name: "a thesis with sources",
    files: {
      "thesis/chapter.md": "# Moss\nMoss holds water.\n",
      "downloads/paper.md": "Moss holds 20 times its weight.\n",
    },
    talks: [
      talk(
        "Does the paper in downloads support my chapter?",
        [read("thesis/chapter.md"), read("downloads/paper.md")],
        "Yes: 20 times its weight.",
      ),
      talk(
        "Cite it.",
        [edit("thesis/chapter.md", "Moss holds water.", "Moss holds 20 times its weight in water (paper).")],
        "Cited.",
      ),
      talk(
        "Find another paper about how much water moss holds.",
        [search("paper how much water moss holds")],
        [fetchPage("paper-how-much-water-moss-holds/1")],
        [write("thesis/sources.md", "- {{web}}/paper-how-much-water-moss-holds/1\n")],
        "Found one.",
      ),
    ],
  },
  {
    name: "tax papers",
    files: {
      "tax/2025.csv": "kind,sum\nbooks,120\ntrain,340\n",
      "downloads/letter-of-the-office.md": "Please send the list of expenses.\n",
    },
    talks: [
      talk(
        "What does the office want? It is in downloads.",
        [read("downloads/letter-of-the-office.md")],
        "The list of expenses.",
      ),
      talk(
        "Make it from tax/2025.csv.",
        [read("tax/2025.csv")],
        [run("awk -F, '{s+=$2} END {print s}' tax/2025.csv")],
        [write("tax/list.md", "Books 120, train 340, together 460.\n")],
        "460 EUR.",
      ),
      talk(
        "Remember that the office wrote about 2025.",
        [edit("MEMORY.md", "# Memory", "# Memory\n- The tax office wrote about 2025.")],
        "Kept.",
      ),
    ],
  },
  {
    name: "a subscription checked",
    files: { "notes/subscriptions.md": "- newspaper 30 EUR\n- music 10 EUR\n" },
    talks: [
      talk("What do my subscriptions cost?", [read("notes/subscriptions.md")], "40 EUR a month."),
      talk(
        "Is there a cheaper newspaper subscription?",
        [search("cheaper newspaper subscription")],
        [fetchPage("cheaper-newspaper-subscription/1"), fetchPage("cheaper-newspaper-subscription/2")],
        "One at 22 EUR.",
      ),
      talk("Note it.", [edit("notes/subscriptions.md", "30 EUR", "30 EUR (there is one at 22)")], "Noted."),
    ],
  },
  {
    name: "a talk prepared from own notes",
    files: { "notes/bees.md": "- 300 kinds\n- most live alone\n" },
    talks: [
      talk(
        "Make slides about bees from my notes.",
        [read("notes/bees.md")],
        [write("slides/bees.md", "# Bees\n---\n300 kinds\n")],
        "Two slides.",
      ),
      talk(
        "Add a picture from {{web}}/pictures/bee.",
        [fetchPage("pictures/bee")],
        [edit("slides/bees.md", "300 kinds", "300 kinds\n![bee](bee.jpg)")],
        "Added.",
      ),
      talk("What did I say about slides before?", [recall("slides about bees")], "You asked for bees."),
    ],
  },
  {
    name: "a newsletter with a link the owner names",
    files: { "inbox/news.eml": "The week in chess: {{web}}/chess/week-20\n" },
    talks: [
      talk(
        "Summarise the newsletter in my inbox.",
        [read("inbox/news.eml")],
        "It links to the week in chess.",
      ),
      talk(
        "Open {{web}}/chess/week-20 and summarise it.",
        [fetchPage("chess/week-20")],
        "Two rounds were drawn.",
      ),
      talk("Keep that in chess.md.", [write("chess.md", "Week 20: two rounds drawn.\n")], "Kept."),
    ],
  },
];
