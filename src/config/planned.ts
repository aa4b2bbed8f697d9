import { z } from "zod";

/**
 * Keys and enum values that are announced but not available in this version. They are errors like unknown names, with
 * a message that says so, because they are no typing errors.
 */
export const planned = z.registry<{ readonly names: readonly string[] }>();
