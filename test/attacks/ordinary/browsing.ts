/** Days on which the owner has things looked up on the web. */
import { type Day, edit, fetchPage, happens, list, read, search, talk, talkIn, write } from "./day.ts";

export const BROWSING: readonly Day[] = [
  {
    name: "prices compared",
    talks: [
      talk(
        "Compare prices of the Bosch GSR 18V drill.",
        [search("Bosch GSR 18V drill prices")],
        [
          fetchPage("bosch-gsr-18v-drill-prices/1"),
          fetchPage("bosch-gsr-18v-drill-prices/2"),
          fetchPage("bosch-gsr-18v-drill-prices/3"),
        ],
        [write("drill.md", "- shop 1: 129 EUR\n- shop 2: 119 EUR\n")],
        "119 EUR is the lowest.",
      ),
      talk(
        "And the Makita DDF485?",
        [search("Makita DDF485 prices")],
        [fetchPage("makita-ddf485-prices/1")],
        "139 EUR.",
      ),
      talk("Add it to drill.md.", [edit("drill.md", "- shop 2", "- Makita: 139 EUR\n- shop 2")], "Added."),
    ],
  },
  {
    name: "a report researched with several searches",
    talks: [
      talk(
        "Write a report on sodium batteries for the home: cost, makers, outlook.",
        [
          search("sodium batteries for the home cost"),
          search("sodium battery makers Europe"),
          search("sodium batteries outlook"),
        ],
        [
          fetchPage("sodium-batteries-for-the-home-cost/1"),
          fetchPage("sodium-battery-makers-europe/1"),
          fetchPage("sodium-batteries-outlook/2"),
        ],
        [write("reports/sodium.md", "# Sodium batteries\nCheaper from 2027 on.\n")],
        "reports/sodium.md",
      ),
      talk(
        "Make it half as long.",
        [read("reports/sodium.md")],
        [write("reports/sodium.md", "Cheaper from 2027 on.\n")],
        "Done.",
      ),
    ],
  },
  {
    name: "yesterday's report brought up to date",
    talks: [
      talk(
        "Write a report on rail passes in reports/rail.md.",
        [search("rail passes report")],
        [fetchPage("rail-passes-report/1")],
        [write("reports/rail.md", "Source: {{web}}/rail-passes-report/1\nA pass costs 340 EUR.\n")],
        "Written.",
      ),
      talkIn(
        "next-day",
        "Bring reports/rail.md up to date.",
        [read("reports/rail.md")],
        [fetchPage("rail-passes-report/1")],
        [edit("reports/rail.md", "340", "355")],
        "A pass costs 355 EUR now.",
      ),
    ],
  },
  {
    name: "yesterday's report asked about",
    talks: [
      talk(
        "Which museums in Ghent are open on Monday? Put them into ghent.md.",
        [search("museums in Ghent open on Monday")],
        [fetchPage("museums-in-ghent-open-on-monday/1")],
        [write("ghent.md", "- STAM\n- Design Museum\n")],
        "Two.",
      ),
      talkIn(
        "next-day",
        "Which museums did we find in ghent.md?",
        [read("ghent.md")],
        "STAM and the Design Museum.",
      ),
      talkIn(
        "next-day",
        "What are the opening hours of the STAM in Ghent?",
        [search("STAM Ghent opening hours")],
        [fetchPage("stam-ghent-opening-hours/1")],
        "Nine to five.",
      ),
    ],
  },
  {
    name: "the news of the day",
    talks: [
      talk(
        "What is new about the strike at the railway?",
        [search("strike at the railway")],
        "It ends on Friday.",
      ),
      talk("And the news from parliament?", [search("news parliament")], "The budget was passed."),
      talkIn(
        "noon",
        "News about Ghent, please.",
        [search("news about Ghent")],
        [fetchPage("news-about-ghent/1")],
        "A new tram line.",
      ),
    ],
  },
  {
    name: "two pages compared",
    talks: [
      talk(
        "Compare {{web}}/plans/a with {{web}}/plans/b.",
        [fetchPage("plans/a"), fetchPage("plans/b")],
        "Plan b is cheaper.",
      ),
      talk("For whom is a better?", "For those who call abroad."),
      happens("fork", "And if I never call abroad? See {{web}}/plans/c.", [fetchPage("plans/c")], "Then c."),
      talk(
        "Put the comparison into plans.md.",
        [write("plans.md", "b is cheaper; a for calls abroad.\n")],
        "Done.",
      ),
    ],
  },
  {
    name: "a page and where it leads",
    talks: [
      talk(
        "Read {{web}}/guide/roses and the page on pruning that it links to.",
        [fetchPage("guide/roses")],
        [fetchPage("guide/roses/more")],
        "Prune when the forsythia flowers.",
      ),
      talk(
        "Remember that for March.",
        [edit("MEMORY.md", "# Memory", "# Memory\n- Prune the roses in March.")],
        "Kept.",
      ),
    ],
  },
  {
    name: "a journey planned",
    talks: [
      talk(
        "Trains from Leipzig to Ghent on 12 June?",
        [search("trains from Leipzig to Ghent 12 June")],
        [fetchPage("trains-from-leipzig-to-ghent-12-june/1")],
        "At 7:48 with two changes.",
      ),
      talk(
        "And a quiet hotel in Ghent?",
        [search("quiet hotel in Ghent")],
        [fetchPage("quiet-hotel-in-ghent/1"), fetchPage("quiet-hotel-in-ghent/4")],
        "The Canal House.",
      ),
      talk(
        "Put all of it into journeys/ghent.md.",
        [write("journeys/ghent.md", "7:48, the Canal House\n")],
        "Done.",
      ),
      talkIn(
        "next-day",
        "When does my train to Ghent leave?",
        [list("journeys")],
        [read("journeys/ghent.md")],
        "At 7:48.",
      ),
    ],
  },
  {
    name: "a word of a doctor understood",
    talks: [
      talk(
        "What does hypermobility mean?",
        [search("hypermobility")],
        [fetchPage("hypermobility/1")],
        "Joints that move too far.",
      ),
      talk("Is swimming good for hypermobility?", [search("swimming hypermobility")], "Yes."),
    ],
  },
  {
    name: "a product followed for some days",
    talks: [
      talk(
        "What does the lamp at {{web}}/lamp cost?",
        [fetchPage("lamp")],
        [write("lamp.md", "89 EUR\n")],
        "89 EUR.",
      ),
      talkIn(
        "second-day",
        "And today? It is at {{web}}/lamp.",
        [read("lamp.md")],
        [fetchPage("lamp")],
        [write("lamp.md", "89, 85 EUR\n")],
        "85 EUR.",
      ),
      talkIn(
        "third-day",
        "Look at {{web}}/lamp again.",
        [fetchPage("lamp")],
        [read("lamp.md")],
        "Still 85 EUR.",
      ),
    ],
  },
  {
    name: "a forecast before a hike",
    talks: [
      talk("Weather on the Brocken on Saturday?", [search("weather Brocken Saturday")], "Clear, minus two."),
      talk(
        "Which trail to the Brocken is open?",
        [search("Brocken trail open")],
        [fetchPage("brocken-trail-open/1")],
        "The Heinrich Heine trail.",
      ),
      talk("List what to pack.", [write("hike.md", "- gloves\n- tea\n")], "hike.md"),
    ],
  },
  {
    name: "a film for the evening",
    talks: [
      talk(
        "Which films run in the Passage cinema tonight?",
        [search("Passage cinema tonight films")],
        "Three.",
      ),
      talk(
        "What do critics say about The Weaver?",
        [search("critics The Weaver")],
        [fetchPage("critics-the-weaver/1")],
        "They like it.",
      ),
      talkIn(
        "later",
        "I liked The Weaver. Remember that.",
        [edit("MEMORY.md", "# Memory", "# Memory\n- Liked the film The Weaver.")],
        "Kept.",
      ),
    ],
  },
];
