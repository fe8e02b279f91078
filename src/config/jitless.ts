/**
 * Keeps zod from compiling a function for each object of a schema, which is used once or twice:
 * 1.3 MB at the start. Imported before all schemas, which look when they are made.
 */
import * as z from "zod";

z.config({ jitless: true });
