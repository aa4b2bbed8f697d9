/** The JSON form of a person. */
import { isoTime } from "../feature/views.ts";
import type { StoredPerson } from "../store/store.ts";

export type PersonView = ReturnType<typeof personView>;

export function personView({ createdAtMs, identities, permissions, ...person }: StoredPerson) {
  return {
    ...person,
    identities: [...identities],
    permissions: permissions ?? null,
    createdAt: isoTime(createdAtMs),
  };
}
