/** People over HTTP. */
import { isAbsolute } from "node:path";

import { pageOf } from "../feature/page.ts";
import { PageQuery } from "../feature/requests.ts";
import { route } from "../feature/route.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { present } from "../model/present.ts";
import type { PersonChange, Store, StoredPerson } from "../store/store.ts";
import { forgetPerson } from "./forget-person.ts";
import { peopleSchemas as schemas, RemovalQuery } from "./schemas.ts";
import { personView } from "./views.ts";

export const peopleRoutes = [
  route({
    method: "get",
    path: "/api/people",
    needs: "read",
    summary: "List people",
    query: PageQuery,
    answers: { 200: schemas.People },
    async handle({ query }, { cortex: { store } }) {
      return { status: 200, body: pageOf(await store.people.list(present(query)), personView) };
    },
  }),
  route({
    method: "post",
    path: "/api/people",
    needs: "admin",
    summary: "Add a person",
    body: schemas.PersonRequest,
    answers: { 201: schemas.Person },
    async handle({ caller, body }, { cortex: { store } }) {
      const { permissions, name = body.id, limits, ...person } = body;
      const narrowed = checkPermissions(permissions as Json);
      const added = { ...person, name, limits: present(limits), permissions: narrowed };
      return { status: 201, body: personView(await store.people.add(added, caller)) };
    },
  }),
  route({
    method: "get",
    path: "/api/people/:id",
    needs: "read",
    summary: "Show a person",
    answers: { 200: schemas.Person },
    async handle({ params: { id } }, { cortex: { store } }) {
      return { status: 200, body: personView(await knownPerson(id, store)) };
    },
  }),
  route({
    method: "patch",
    path: "/api/people/:id",
    needs: "admin",
    summary: "Change a person",
    body: schemas.PersonChange,
    answers: { 200: schemas.Person },
    async handle({ caller, params: { id }, body }, { cortex: { store } }) {
      const { identities, permissions, name, role, limits } = body;
      const had = identities === undefined ? [] : (await knownPerson(id, store)).identities;
      const change: PersonChange = present({
        name,
        role,
        limits: limits === undefined ? undefined : present(limits),
        permissions: permissions === undefined ? undefined : checkPermissions(permissions as Json),
        link: identities,
        unlink: had.filter((identity) => identities?.includes(identity) !== true),
      });
      return { status: 200, body: personView(await store.people.change(id, change, caller)) };
    },
  }),
  route({
    method: "delete",
    path: "/api/people/:id",
    needs: "admin",
    summary: "Remove a person; with `forget`, also the text of what they said",
    query: RemovalQuery,
    answers: { 200: schemas.PersonRemoved },
    async handle({ caller, params: { id }, query: { forget } }, { cortex: { home, store }, clock }) {
      if (forget === "1") {
        const forgotten = await forgetPerson(id, { home, store, by: caller, nowMs: clock() });
        return { status: 200, body: { id, forgotten } };
      }
      await store.people.remove(id, caller);
      return { status: 200, body: { id, forgotten: null } };
    },
  }),
];

async function knownPerson(id: string, { people }: Pick<Store, "people">): Promise<StoredPerson> {
  const person = await people.get(id);
  if (person !== undefined) return person;
  throw new CortexError("person_unknown", `Unknown person "${id}"`, {
    hint: "Run `cortex people list` to list people.",
  });
}

/** A relative folder would be relative to nothing: the configuration resolves its own, and these are not in it. */
function checkPermissions(permissions: Json): Json {
  const { roots = [] } = (permissions ?? {}) as { readonly roots?: readonly string[] };
  const relative = roots.find((root) => !isAbsolute(root));
  if (relative === undefined) return permissions;
  throw new CortexError(
    "request_invalid",
    `The folder ${JSON.stringify(relative)} in \`roots\` is not absolute`,
    {
      hint: "Name folders by their absolute path.",
    },
  );
}
