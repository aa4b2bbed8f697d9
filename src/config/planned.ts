import { z } from "zod";

/**
 * Keys of an object, or values of an enum, that are announced and not available in this version. They are errors like
 * any other unknown name, but say so: whoever writes them has made no typing error.
 */
export const planned = z.registry<{ readonly names: readonly string[] }>();
