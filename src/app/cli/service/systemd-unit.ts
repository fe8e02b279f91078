/**
 * The text of a systemd user unit. Quotes, backslashes, `%` and `$` of a path stay what they are:
 * `%` begins a specifier everywhere, `$` a variable in arguments only.
 */
import { type Definition, MARK, TITLE } from "./definition.ts";

/** How often it is started in two minutes before it stays down. */
const STARTS = 5;

export function systemdUnit({ program, config, folder, environment }: Definition): string {
  const [command = "", ...args] = [...program, "serve", "--config", config];
  const words = [quoted(command), ...args.map((word) => quoted(word).replaceAll("$", "$$$$"))];
  return [
    `# ${MARK}`,
    "[Unit]",
    `Description=${TITLE}`,
    "StartLimitIntervalSec=120",
    `StartLimitBurst=${STARTS}`,
    "",
    "[Service]",
    `ExecStart=${words.join(" ")}`,
    // Not split into words, so it takes no quotes.
    `WorkingDirectory=${folder.replaceAll("%", "%%")}`,
    ...Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    "Restart=on-failure",
    "RestartSec=5",
    "# Wrong usage: a restart would not mend it.",
    "RestartPreventExitStatus=2",
    "# The gateway ends its servers itself.",
    "KillMode=mixed",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}
