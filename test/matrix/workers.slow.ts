import { META_TOOL_NAMES } from "../../src/config/schema/offerings.ts";
import { startWorkers } from "../fixtures/workers.ts";
import { describeMatrix } from "./describe-matrix.ts";

describeMatrix({ era: "legacy", transport: "http" }, 3, async (count, config) => {
  const { hopping } = await startWorkers(count, { ...config, metaTools: { enabled: META_TOOL_NAMES } });
  return { url: hopping, sseUrl: hopping.replace(/mcp$/, "sse") };
});
