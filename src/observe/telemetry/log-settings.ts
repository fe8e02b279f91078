/**
 * Applies the config's log level and keeps the config's secrets out of the log, also after a
 * reload.
 */
import type { LiveConfig } from "../../config/live-config.ts";
import { logSecrets } from "../../config/secrets.ts";
import type { LogBook } from "./log-book.ts";

export function followLogSettings(logs: LogBook, config: LiveConfig): void {
  logs.masker.hide(logSecrets(config.current));
  config.on("changed", ({ settings }) => {
    logs.masker.hide(logSecrets(config.current));
    if (settings.includes("log.level")) logs.setLevel(config.current.log.level);
  });
}
