/** What service managers get: the exact texts, and how their tools are used. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Definition, definitionOf } from "../../../../src/app/cli/service/definition.ts";
import type { RunTool, ToolResult } from "../../../../src/app/cli/service/run-tool.ts";
import { managerOf } from "../../../../src/app/cli/service/service-system.ts";
import { systemdUnit } from "../../../../src/app/cli/service/systemd-unit.ts";

const ODD = `/home/an na/100% "good" $HOME\\it's/goblin.json`;
const definition: Definition = {
  program: ["/opt/my node/bin/node", "/opt/50%/goblin.js"],
  config: ODD,
  folder: `/home/an na/100% "good" $HOME\\it's`,
  environment: { PATH: "/opt/my node/bin:/usr/bin:/50%", XDG_STATE_HOME: "/a $b/<c>&d" },
};

interface Used {
  readonly uses: string[];
  readonly run: RunTool;
}

function tools(answer: (use: string) => Partial<ToolResult> = () => ({})): Used {
  const uses: string[] = [];
  return {
    uses,
    run: async (...words) => {
      uses.push(words.join(" "));
      return { code: 0, out: "", complaint: "", ...answer(words.join(" ")) };
    },
  };
}

const machine = { home: "/home/anna", cwd: "/", env: {} };
const on = (platform: NodeJS.Platform, { run }: Used, env: Record<string, string> = {}) => {
  const home = platform === "win32" ? "C:\\Users\\an na" : "/home/anna";
  return managerOf({
    machine: { ...machine, home, platform, env },
    run,
    stateFolder: `${home}\\.local\\state\\goblin`,
    isContainer: false,
    userId: 501,
  });
};

test("a systemd unit, with the characters that systemd gives a meaning", () => {
  expect(systemdUnit(definition)).toMatchInlineSnapshot(`
    "# Written by goblin service install. To remove it: goblin service uninstall
    [Unit]
    Description=Goblin, the MCP gateway
    StartLimitIntervalSec=120
    StartLimitBurst=5

    [Service]
    ExecStart="/opt/my node/bin/node" "/opt/50%%/goblin.js" "serve" "--config" "/home/an na/100%% \\"good\\" $$HOME\\\\it's/goblin.json"
    WorkingDirectory=/home/an na/100%% "good" $HOME\\it's
    Environment="PATH=/opt/my node/bin:/usr/bin:/50%%"
    Environment="XDG_STATE_HOME=/a $b/<c>&d"
    Restart=on-failure
    RestartSec=5
    # Wrong usage: a restart would not mend it.
    RestartPreventExitStatus=2
    # The gateway ends its servers itself.
    KillMode=mixed

    [Install]
    WantedBy=default.target
    "
  `);
});

test.skipIf(spawnSync("systemd-analyze", ["--version"]).status !== 0)("systemd itself accepts the unit", () => {
  const folder = mkdtempSync(join(tmpdir(), `goblin "unit" 100% $HOME\\ `));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(mkdtempSync(join(folder, "units-")), "goblin.service");
  const verified = (changed: Partial<Definition>): string => {
    writeFileSync(file, systemdUnit({ ...definition, program: [process.execPath, "/x.js"], folder, ...changed }));
    const { stderr, stdout } = spawnSync("systemd-analyze", ["--user", "verify", file], {
      encoding: "utf8",
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    return (stdout + stderr)
      .split("\n")
      .filter((line) => line.includes("goblin.service"))
      .join("\n");
  };
  expect(verified({})).toBe("");
  // It does look at what it reads.
  expect(verified({ program: ["/nowhere/node"] })).toContain("/nowhere/node");
});

test("a launchd agent, used with launchctl", async () => {
  const used = tools((use) => (use.startsWith("launchctl print") ? { out: "x = {\n\tstate = running\n}\n" } : {}));
  const manager = on("darwin", used, { USER: "anna" });
  expect(manager.file).toBe("/home/anna/Library/LaunchAgents/com.goblin-mcp.gateway.plist");
  expect(manager.logs).toBe("tail -f /home/anna/Library/Logs/goblin.log");
  expect(manager.textFor(definition)).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <!-- Written by goblin service install. To remove it: goblin service uninstall -->
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
      <key>Label</key><string>com.goblin-mcp.gateway</string>
      <key>ProgramArguments</key>
      <array>
        <string>/opt/my node/bin/node</string>
        <string>/opt/50%/goblin.js</string>
        <string>serve</string>
        <string>--config</string>
        <string>/home/an na/100% "good" $HOME\\it's/goblin.json</string>
      </array>
      <key>WorkingDirectory</key><string>/home/an na/100% "good" $HOME\\it's</string>
      <key>EnvironmentVariables</key>
      <dict>
        <key>PATH</key><string>/opt/my node/bin:/usr/bin:/50%</string>
        <key>XDG_STATE_HOME</key><string>/a $b/&lt;c&gt;&amp;d</string>
      </dict>
      <key>RunAtLoad</key><true/>
      <key>KeepAlive</key>
      <dict>
        <key>SuccessfulExit</key><false/>
      </dict>
      <key>ThrottleInterval</key><integer>10</integer>
      <key>ExitTimeOut</key><integer>60</integer>
      <key>StandardOutPath</key><string>/home/anna/Library/Logs/goblin.log</string>
      <key>StandardErrorPath</key><string>/home/anna/Library/Logs/goblin.log</string>
    </dict>
    </plist>
    "
  `);
  await manager.environment();
  await manager.start();
  expect(await manager.state()).toBe("running");
  await manager.stop();
  expect(used.uses).toEqual([
    "launchctl print gui/501",
    "launchctl bootout gui/501/com.goblin-mcp.gateway",
    "launchctl enable gui/501/com.goblin-mcp.gateway",
    "launchctl bootstrap gui/501 /home/anna/Library/LaunchAgents/com.goblin-mcp.gateway.plist",
    "launchctl print gui/501/com.goblin-mcp.gateway",
    "launchctl print gui/501/com.goblin-mcp.gateway",
    "launchctl bootout gui/501/com.goblin-mcp.gateway",
  ]);
  const ended = tools(() => ({ out: "\tstate = not running\n\tlast exit code = 1\n" }));
  expect(await on("darwin", ended).state()).toBe("failed");
  const remote = on(
    "darwin",
    tools(() => ({ code: 125 })),
  );
  await expect(remote.environment()).rejects.toThrow("log in there");
});

test("a Windows task, used with schtasks", async () => {
  const used = tools((use) => (use.startsWith("powershell") ? { out: `${0x41301}\r\n` } : {}));
  const manager = on("win32", used, { USERDOMAIN: "DESK", USERNAME: "an na" });
  const onWindows: Definition = {
    program: ["C:\\Program Files\\nodejs\\node.exe", "C:\\npm\\goblin.js"],
    config: 'C:\\a & b\\100% "good"\\goblin.json',
    folder: "C:\\a & b",
    environment: {},
  };
  const text = manager.textFor(onWindows);
  expect(text).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-16"?>
    <!-- Written by goblin service install. To remove it: goblin service uninstall -->
    <Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
      <RegistrationInfo>
        <Description>Goblin, the MCP gateway</Description>
      </RegistrationInfo>
      <Triggers>
        <LogonTrigger>
          <UserId>DESK\\an na</UserId>
        </LogonTrigger>
      </Triggers>
      <Principals>
        <Principal id="Author">
          <UserId>DESK\\an na</UserId>
          <LogonType>InteractiveToken</LogonType>
          <RunLevel>LeastPrivilege</RunLevel>
        </Principal>
      </Principals>
      <Settings>
        <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
        <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
        <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
        <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
        <RestartOnFailure>
          <Interval>PT1M</Interval>
          <Count>5</Count>
        </RestartOnFailure>
      </Settings>
      <Actions Context="Author">
        <Exec>
          <Command>conhost.exe</Command>
          <Arguments>--headless "C:\\Program Files\\nodejs\\node.exe" C:\\npm\\goblin.js service run --config "C:\\a &amp; b\\100% \\"good\\"\\goblin.json" --log "C:\\Users\\an na\\.local\\state\\goblin\\service.log"</Arguments>
          <WorkingDirectory>C:\\a &amp; b</WorkingDirectory>
        </Exec>
      </Actions>
    </Task>
    "
  `);
  expect(manager.bytesOf(text).subarray(0, 4)).toEqual(Buffer.from([0xff, 0xfe, 0x3c, 0]));
  expect(manager.file).toBe("C:\\Users\\an na\\.local\\state\\goblin\\service.xml");
  expect(await manager.environment()).toBeUndefined();
  await manager.start();
  expect(await manager.state()).toBe("running");
  await manager.stop();
  expect(used.uses).toEqual([
    "schtasks /Query /FO LIST",
    "schtasks /End /TN goblin-mcp",
    `schtasks /Create /TN goblin-mcp /XML ${manager.file} /F`,
    "schtasks /Run /TN goblin-mcp",
    "powershell -NoProfile -NonInteractive -Command (Get-ScheduledTaskInfo -TaskName goblin-mcp).LastTaskResult",
    "schtasks /Query /TN goblin-mcp",
    "schtasks /End /TN goblin-mcp",
    "schtasks /Delete /TN goblin-mcp /F",
  ]);
});

test("without a service manager, the message names the reason and the remedy", async () => {
  const none = tools(() => ({ code: undefined, complaint: "" }));
  const offline = tools(() => ({ code: 1, complaint: "Failed to connect to bus: No medium found" }));
  const asked = (used: Used, env: Record<string, string>, isContainer = false) =>
    managerOf({
      machine: { ...machine, platform: "linux", env },
      run: used.run,
      stateFolder: "/s",
      isContainer,
      userId: 1,
    }).environment();
  await expect(asked(none, {}, true)).rejects.toThrow(
    /no systemctl\): in a container, make "goblin serve .*\(docker run --restart/,
  );
  await expect(asked(offline, {})).rejects.toThrow(/No medium found\): log in as this user itself/);
  await expect(asked(offline, { WSL_DISTRO_NAME: "Debian" })).rejects.toThrow("/etc/wsl.conf");
  expect(() => on("freebsd", none)).toThrow("Goblin knows no service manager of freebsd");
});

test("a definition has the folders of programs and no secret, and names what lasts", () => {
  const env = {
    PATH: "/usr/bin:/bin",
    GOBLIN_TOKEN: "s3cret",
    OPENAI_API_KEY: "s3cret",
    HTTPS_PROXY: "http://a:s3cret@b",
  };
  const program = { command: "sh", args: ["-y", "goblin-mcp"] };
  const made = definitionOf({ program, config: "/home/a/goblin.json", env });
  expect(made).toEqual({
    program: [expect.stringMatching(/^\/(usr\/)?bin\/sh$/), "-y", "goblin-mcp"],
    config: "/home/a/goblin.json",
    folder: "/home/a",
    environment: { PATH: "/usr/bin:/bin" },
  });
  expect(() => definitionOf({ program: { command: "no-such-npx", args: [] }, config: "/g.json", env })).toThrow(
    "npm install -g goblin-mcp",
  );
  expect(() => definitionOf({ program, config: "/a\nExecStart=/bin/x/g.json", env })).toThrow("control character");
});

test("Homebrew's node is named by the link that survives an update", () => {
  const folder = mkdtempSync(join(tmpdir(), "goblin-brew-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const command = `${folder}/Cellar/node@20/20.1.0/bin/node`;
  const program = { command, args: [] };
  const named = () => definitionOf({ program, config: "/g.json", env: {} }).program[0];
  expect(named()).toBe(command);
  spawnSync("mkdir", ["-p", `${folder}/opt/node@20/bin`]);
  writeFileSync(`${folder}/opt/node@20/bin/node`, "");
  expect(named()).toBe(`${folder}/opt/node@20/bin/node`);
});
