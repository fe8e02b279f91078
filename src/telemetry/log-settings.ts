/** Keeps the log at the level that the config says, and the config's secrets out of it. */
import type { LiveConfig } from "../config/live-config.ts";
import { logSecrets } from "../config/secrets.ts";
import type { LogBook } from "./log-book.ts";

export function followLogSettings(logs: LogBook, config: LiveConfig): void {
  logs.masker.hide(logSecrets(config.current));
  config.on("changed", ({ settings }) => {
    logs.masker.hide(logSecrets(config.current));
    if (settings.includes("log.level")) logs.setLevel(config.current.log.level);
  });
}
