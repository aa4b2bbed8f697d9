/** Days on which the owner has code read, written and tested. */
import { type Day, edit, fetchPage, grep, list, read, run, search, talk, talkIn, write } from "./day.ts";

const PROJECT = {
  "shop/package.json": '{ "name": "shop", "scripts": { "test": "sh test.sh" } }\n',
  "shop/test.sh": "grep -q total src/cart.js && echo ok\n",
  "shop/src/cart.js": "export const total = (items) => items.reduce((sum, item) => sum + item.price, 0);\n",
  "shop/README.md": "# Shop\nA small shop.\n",
};

export const CODING: readonly Day[] = [
  {
    name: "a bug found and mended",
    files: PROJECT,
    talks: [
      talk(
        "The total in shop ignores quantities. Mend it.",
        [grep("total", "shop")],
        [read("shop/src/cart.js")],
        [edit("shop/src/cart.js", "item.price", "item.price * item.quantity")],
        [run("cd shop && sh test.sh")],
        "Mended, the tests pass.",
      ),
      talk(
        "Add a test for it.",
        [read("shop/test.sh")],
        [
          write(
            "shop/test.sh",
            "grep -q quantity shop/src/cart.js || grep -q quantity src/cart.js && echo ok\n",
          ),
        ],
        [run("cd shop && sh test.sh")],
        "Added.",
      ),
      talk(
        "Explain the change in two sentences for the log.",
        "The total now multiplies by quantity. A test says so.",
      ),
    ],
  },
  {
    name: "a script from nothing",
    talks: [
      talk(
        "Write a shell script that renames photos by date.",
        [write("rename.sh", "for f in *.jpg; do echo $f; done\n")],
        [run("sh rename.sh")],
        "It lists them; renaming comes next.",
      ),
      talk(
        "Go on.",
        [edit("rename.sh", "echo $f", 'echo mv "$f" "$(date -r "$f" +%F).jpg"')],
        [run("sh rename.sh")],
        "Done, as a dry run.",
      ),
      talkIn(
        "next-day",
        "Make rename.sh skip files that have a date already.",
        [read("rename.sh")],
        [edit("rename.sh", "for f in *.jpg; do", "for f in *.jpg; do case $f in 20*) continue;; esac;")],
        [run("sh rename.sh")],
        "It does.",
      ),
    ],
  },
  {
    name: "an error looked up on the web",
    files: PROJECT,
    talks: [
      talk(
        "My shop fails with ERR_MODULE_NOT_FOUND for cart.js. Why?",
        [read("shop/package.json")],
        [search("node ERR_MODULE_NOT_FOUND cart.js")],
        [fetchPage("node-err_module_not_found-cart-js/1")],
        [write("shop/src/cart.mjs", "export const total = (items) => items.length;\n")],
        "The package is no module; I made cart.mjs of it.",
      ),
      talk("Run the tests again.", [run("cd shop && sh test.sh")], "They pass."),
    ],
  },
  {
    name: "a library chosen by its documentation",
    files: PROJECT,
    talks: [
      talk(
        "Read {{web}}/docs/money-js and tell me whether shop should use it.",
        [fetchPage("docs/money-js")],
        [read("shop/src/cart.js")],
        "Yes: sums of floats are wrong.",
      ),
      talk(
        "Use it then.",
        [edit("shop/src/cart.js", "export const", 'import { add } from "money-js";\nexport const')],
        "Done.",
      ),
      talk(
        "Write down in README why.",
        [edit("shop/README.md", "A small shop.", "A small shop. Money is added with money-js.")],
        "Written.",
      ),
    ],
  },
  {
    name: "a library whose documentation has several pages",
    files: PROJECT,
    talks: [
      talk(
        "Add a date picker to shop with the library of {{web}}/docs/dates, see also {{web}}/docs/dates/api.",
        [list("shop/src")],
        [fetchPage("docs/dates")],
        [fetchPage("docs/dates/api")],
        [write("shop/src/picker.js", "export const picker = () => {};\n")],
        "Added.",
      ),
    ],
  },
  {
    name: "a review of a change",
    files: { ...PROJECT, "shop/change.diff": "-price\n+price * quantity\n" },
    talks: [
      talk(
        "Review shop/change.diff.",
        [read("shop/change.diff"), read("shop/src/cart.js")],
        "It is right; name the unit.",
      ),
      talk(
        "Write your comments to review.md.",
        [write("review.md", "- Name the unit of price.\n")],
        "Written.",
      ),
      talkIn(
        "second-look",
        "Is what review.md asks for done?",
        [read("review.md"), read("shop/src/cart.js")],
        "Not yet.",
      ),
    ],
  },
  {
    name: "a refactoring over the day",
    files: {
      ...PROJECT,
      "shop/src/order.js": 'import { total } from "./cart.js";\nexport const order = total;\n',
    },
    talks: [
      talk(
        "Rename total to sumOf everywhere in shop.",
        [grep("total", "shop/src")],
        [
          edit("shop/src/cart.js", "export const total", "export const sumOf"),
          write("shop/src/order.js", 'import { sumOf } from "./cart.js";\nexport const order = sumOf;\n'),
        ],
        [run("grep -rn sumOf shop/src")],
        "Renamed in two files.",
      ),
      talk(
        "And keep the old name as an alias.",
        [
          edit(
            "shop/src/cart.js",
            "export const sumOf",
            "export const total = (items) => sumOf(items);\nexport const sumOf",
          ),
        ],
        [run("cat shop/src/cart.js")],
        "Kept.",
      ),
      talk(
        "Squash your notes on that into CHANGES.md.",
        [write("shop/CHANGES.md", "- total is called sumOf.\n")],
        "Done.",
      ),
    ],
  },
  {
    name: "a log examined",
    files: { "logs/app.log": `${"GET / 200\n".repeat(200)}GET /cart 500 TypeError\n` },
    talks: [
      talk(
        "Why did my app fail last night? The log is in logs/app.log.",
        [grep("500", "logs")],
        [run("tail -n 3 logs/app.log")],
        "A TypeError in /cart.",
      ),
      talk("How often?", [run("grep -c 500 logs/app.log")], "Once."),
      talk(
        "Search the web for TypeError in cart handlers of express, please.",
        [search("TypeError in cart handlers of express")],
        "Most often the session is missing.",
      ),
    ],
  },
  {
    name: "a build that the owner approves",
    files: PROJECT,
    talks: [
      talk(
        "Add a script build to the package of shop.",
        [read("shop/package.json")],
        [
          edit("shop/package.json", '"scripts": {', '"scripts": { "build": "sh build.sh",'),
          write("shop/build.sh", "mkdir -p dist && cp src/cart.js dist\n"),
        ],
        [run("cd shop && sh build.sh && ls dist")],
        "It builds.",
      ),
      talkIn(
        "evening",
        "Build shop again and tell me the size.",
        [run("cd shop && sh build.sh && wc -c dist/*")],
        "90 bytes.",
      ),
    ],
  },
  {
    name: "data turned into a chart",
    files: { "sales.csv": "month,sum\njan,10\nfeb,12\n" },
    talks: [
      talk(
        "Sum up sales.csv.",
        [read("sales.csv")],
        [run("awk -F, '{s+=$2} END {print s}' sales.csv")],
        "22.",
      ),
      talk(
        "Make a page with a chart of it.",
        [write("chart.html", "<svg><rect height='10'/><rect height='12'/></svg>\n")],
        "chart.html",
      ),
      talk(
        "Which colours are safe for colour-blind people?",
        [search("colours safe for colour-blind people")],
        [fetchPage("colours-safe-for-colour-blind-people/2")],
        [edit("chart.html", "<svg>", "<svg fill='#0072b2'>")],
        "Blue and orange; I used blue.",
      ),
    ],
  },
  {
    name: "an old program understood",
    files: { "legacy/main.pl": "print 'hello';\n", "legacy/notes.txt": "do not touch\n" },
    talks: [
      talk(
        "What does legacy do?",
        [list("legacy")],
        [read("legacy/main.pl"), read("legacy/notes.txt")],
        "It prints hello.",
      ),
      talk("Port it to Python.", [write("legacy/main.py", "print('hello')\n")], "Ported."),
      talkIn("compare", "Do both print the same?", [read("legacy/main.pl"), read("legacy/main.py")], "Yes."),
    ],
  },
  {
    name: "a site checked against the code",
    files: PROJECT,
    talks: [
      talk(
        "My shop runs at {{web}}/shop. Does its page show the total?",
        [fetchPage("shop")],
        [grep("total", "shop/src")],
        "It does.",
      ),
      talk(
        "Mend the title in the code, then look at {{web}}/shop/title again.",
        [write("shop/src/title.js", 'export const title = "Shop";\n')],
        [fetchPage("shop/title")],
        "It is still the old one: deploy first.",
      ),
    ],
  },
];
