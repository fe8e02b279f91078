/** A page for one MCP client, from the table that `goblin install` uses. */
import { stringify as toToml } from "smol-toml";
import { stringify as toYaml } from "yaml";

const texts = { json: (value) => JSON.stringify(value, null, 2), toml: toToml, yaml: toYaml };

const systems = [
  ["Linux", { platform: "linux", home: "~", env: {}, cwd: "." }],
  ["macOS", { platform: "darwin", home: "~", env: {}, cwd: "." }],
  [
    "Windows",
    {
      platform: "win32",
      home: "%USERPROFILE%",
      env: { APPDATA: "%APPDATA%", LOCALAPPDATA: "%LOCALAPPDATA%" },
      cwd: ".",
    },
  ],
];
const URL_OF_GATEWAY = "http://127.0.0.1:3000/mcp";
const block = (client, entry) => {
  const whole = client.section.reduceRight(
    (inner, key) => ({ [key]: inner }),
    client.isList ? [{ name: "goblin", ...entry }] : { goblin: entry },
  );
  return `\`\`\`${client.format}\n${texts[client.format](whole).trimEnd()}\n\`\`\`\n`;
};

export function recipe(client) {
  const { id, title, project, remote, program, variable } = client;
  const files = systems.map(
    ([name, machine]) =>
      `| ${name} | ${client
        .user(machine)
        .map((file) => `\`${file}\``)
        .join(" or ")} |`,
  );
  return `# Goblin with ${title}

\`\`\`sh
goblin install ${id}
\`\`\`

This adds the gateway to the settings of ${title} and keeps the rest of the file as it is.
\`goblin undo\` takes it back. [More about clients](clients.md).

## By hand

| system | file |
|---|---|
${files.join("\n")}
${project ? `\nFor one project: \`${project.join("/")}\` in its folder (\`goblin install ${id} --project\`).\n` : ""}
${remote ? `### Over HTTP\n\nThe gateway must run (\`goblin serve\`).\n\n${block(client, remote(URL_OF_GATEWAY, {}))}` : `${title} can only start programs.\n`}
${remote && variable ? `With a token in the variable \`GOBLIN_TOKEN\`:\n\n${block(client, remote(URL_OF_GATEWAY, { Authorization: `Bearer ${variable("GOBLIN_TOKEN")}` }))}` : ""}
### As a program

A pipe into the running gateway, which starts one if there is none; all clients share its servers:

${block(client, program({ command: "npx", args: ["-y", "goblin-mcp", "stdio", "--attach"] }))}
Without \`--attach\`, ${title} runs a gateway and servers of its own.

## If it does not work

\`goblin clients\` shows whether the entry is as Goblin writes it, and [\`goblin doctor\`](doctor.md)
what else may be wrong.
`;
}
