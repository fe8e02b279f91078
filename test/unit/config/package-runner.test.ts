import { expect, test } from "vitest";
import { packageRunnerOf } from "../../../src/config/package-runner.ts";

test.each([
  ["npx -y @scope/server /tmp", "npx", "@scope/server"],
  ["/usr/local/bin/npx server", "npx", "server"],
  ["npx.cmd server", "npx", "server"],
  ["uvx mcp-server-git --repository .", "uvx", "mcp-server-git"],
  ["uvx --from x y", "uvx", undefined],
  ["bunx server", "bunx", "server"],
  ["pnpm dlx server", "pnpm dlx", "server"],
  ["yarn dlx server", "yarn dlx", "server"],
  ["npm exec -y server", "npm exec", "server"],
  ["pipx run server", "pipx run", "server"],
  ["docker run -i --rm ghcr.io/x/y", "docker run", "ghcr.io/x/y"],
  ["docker run -i -e KEY=secret image", "docker run", undefined],
  ["podman run image", "podman run", "image"],
  ["cmd /c npx -y server", "npx", undefined],
  ["cmd.exe /d /s /c npx server", "npx", undefined],
  ["env A=b npx server", "npx", "server"],
])("%s: %s", (line, name, installed) => {
  const [command = "", ...args] = line.split(" ");
  expect(packageRunnerOf(command, args)).toEqual({ name, package: installed });
});

test("in a shell's own command", () => {
  expect(packageRunnerOf("sh", ["-c", "KEY=x exec npx -y server"])).toEqual({ name: "npx", package: undefined });
  expect(packageRunnerOf("/bin/bash", ["-lc", "uvx server"])?.name).toBe("uvx");
});

test.each(["node server.js", "npm start", "docker compose up", "sh server.sh", "python -m npx", "env"])(
  "%s is not one",
  (line) => {
    const [command = "", ...args] = line.split(" ");
    expect(packageRunnerOf(command, args)).toBeUndefined();
  },
);
