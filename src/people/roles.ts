import type { Role } from "../model/person.ts";

export const DEFAULT_NEW_ROLE: Role = "member";
