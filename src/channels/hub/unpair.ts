import { CortexError } from "../../model/errors.ts";
import type { Identity } from "../../model/principal.ts";
import type { Actor, Store, StoredPerson } from "../../store/store.ts";

/** Takes an identity away from its person, who may have others. What they said stays. */
export async function unpair(
  identity: string,
  by: Actor,
  { people }: Pick<Store, "people">,
): Promise<StoredPerson> {
  const person = await people.find(identity as Identity);
  if (person === undefined) throw identityUnknown(identity);
  return people.change(person.id, { unlink: [identity as Identity] }, by);
}

function identityUnknown(identity: string): CortexError {
  return new CortexError("person_unknown", `Nobody has the identity ${JSON.stringify(identity)}`, {
    hint: "`cortex people list` shows identities, such as telegram:42.",
  });
}
