/**
 * `goblin stdio`: the gateway on stdin and stdout, for clients that start it themselves. Ends when stdin does. The log goes to stderr.
 */
import { createGateway } from "../gateway.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type ChooseOptions, chooseConfig } from "./config.ts";
import { untilSignal } from "./signals.ts";

export async function stdio(options: ChooseOptions): Promise<number> {
  const { config } = await chooseConfig(options, (line) => console.error(line));
  const log = createLogger({ ...config.log, stream: process.stderr });
  const gateway = createGateway({ config, log });
  const front = gateway.stdio({ input: process.stdin, output: process.stdout });
  await Promise.race([front.closed, untilSignal()]);
  await gateway.close();
  return 0;
}
