/** The config of OpenTelemetry: where traces and metrics go, and how many. */
import * as z from "zod";
import { httpUrl } from "./auth.ts";

export const otelSchema = z.strictObject({
  endpoint: httpUrl
    .optional()
    .describe(
      "The OTLP/HTTP address of a collector, such as http://127.0.0.1:4318. Default: $OTEL_EXPORTER_OTLP_ENDPOINT; without either, nothing is measured or sent.",
    ),
  sample: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("The share of calls that are traced. A client's own decision in its trace context comes first."),
  arguments: z
    .boolean()
    .default(false)
    .describe(
      "Whether spans contain the arguments and results of tools, with secrets masked and cut to 4096 characters.",
    ),
});
export type OtelConfig = z.output<typeof otelSchema>;
