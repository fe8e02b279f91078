/**
 * `goblin serve`: the gateway over HTTP, until a signal ends it. Prints the endpoint when it listens.
 */
import { createGateway } from "../gateway.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type ChooseOptions, chooseConfig } from "./config.ts";
import { untilSignal } from "./signals.ts";

export async function serve(options: ChooseOptions): Promise<number> {
  const { config, file } = await chooseConfig(options, (line) => console.error(line));
  const log = createLogger({ ...config.log, stream: process.stderr });
  const gateway = createGateway({ config, log });
  const { url } = await gateway.listen();
  const count = config.servers.filter((server) => server.enabled).length;
  const source = file ? file.path : "no config found, so demo servers";
  console.log(`Goblin is listening on ${url} (${count} ${count === 1 ? "server" : "servers"}; ${source})`);
  await untilSignal();
  await gateway.close();
  return 0;
}
