/** `goblin schema`: prints the JSON Schema of the config, for editors. */
import { configJsonSchema } from "../../../config/schema/json-schema.ts";

export function schema(): number {
  process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return 0;
}
