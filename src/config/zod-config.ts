/**
 * Has zod make less for each schema. It compiles no function, as most are used once or twice (1.3
 * MB at the start). It does not support values that contain themselves, as JSON has none (0.5 MB).
 * Imported before all schemas, which look when they are made.
 */
import * as z from "zod";

z.config({
  jitless: true,
  memoizer: { attach() {}, guard() {}, alloc: (_schema, _payload, empty) => empty },
});
