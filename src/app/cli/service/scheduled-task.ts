/**
 * The text of a task for the Windows Task Scheduler: it starts when its user logs in, without a
 * window, and on batteries too. A task has no environment of its own; it gets the user's.
 */
import { type Definition, MARK, TITLE } from "./definition.ts";
import { xmlText } from "./xml-text.ts";

export interface ScheduledTask extends Definition {
  /** The user's name, with its domain. */
  readonly user: string;
  readonly log: string;
}

export function scheduledTask({ user, log, program, config, folder }: ScheduledTask): string {
  // The host of the console, without its window.
  const words = ["--headless", ...program, "service", "run", "--config", config, "--log", log];
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    `<!-- ${MARK} -->`,
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    "  <RegistrationInfo>",
    `    <Description>${TITLE}</Description>`,
    "  </RegistrationInfo>",
    "  <Triggers>",
    "    <LogonTrigger>",
    `      <UserId>${xmlText(user)}</UserId>`,
    "    </LogonTrigger>",
    "  </Triggers>",
    "  <Principals>",
    '    <Principal id="Author">',
    `      <UserId>${xmlText(user)}</UserId>`,
    "      <LogonType>InteractiveToken</LogonType>",
    "      <RunLevel>LeastPrivilege</RunLevel>",
    "    </Principal>",
    "  </Principals>",
    "  <Settings>",
    "    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
    "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
    "    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>",
    "    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
    "    <RestartOnFailure>",
    "      <Interval>PT1M</Interval>",
    "      <Count>5</Count>",
    "    </RestartOnFailure>",
    "  </Settings>",
    '  <Actions Context="Author">',
    "    <Exec>",
    "      <Command>conhost.exe</Command>",
    `      <Arguments>${xmlText(words.map(windowsWord).join(" "))}</Arguments>`,
    `      <WorkingDirectory>${xmlText(folder)}</WorkingDirectory>`,
    "    </Exec>",
    "  </Actions>",
    "</Task>",
    "",
  ].join("\n");
}

/** Quotes a word as programs on Windows take their command line apart. */
function windowsWord(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  // Backslashes count only before a quote.
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}
