/** The text of a launchd agent, a property list. Its output goes to one file. */
import { type Definition, MARK } from "./definition.ts";
import { xmlText } from "./xml-text.ts";

export interface LaunchAgent extends Definition {
  readonly label: string;
  readonly log: string;
}

export function launchAgent({ label, log, program, config, folder, environment }: LaunchAgent): string {
  const string = (text: string): string => `<string>${xmlText(text)}</string>`;
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>${string(value)}`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${MARK} -->`,
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${string(label)}`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...[...program, "serve", "--config", config].map((word) => `    ${string(word)}`),
    "  </array>",
    `  <key>WorkingDirectory</key>${string(folder)}`,
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...variables,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key>",
    "  <dict>",
    "    <key>SuccessfulExit</key><false/>",
    "  </dict>",
    "  <key>ThrottleInterval</key><integer>10</integer>",
    "  <key>ExitTimeOut</key><integer>60</integer>",
    `  <key>StandardOutPath</key>${string(log)}`,
    `  <key>StandardErrorPath</key>${string(log)}`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}
