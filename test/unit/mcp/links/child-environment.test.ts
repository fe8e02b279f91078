import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { childEnvironment, minimalNames, usualNames } from "../../../../src/mcp/links/programs/child-environment.ts";

const from = {
  PATH: "/bin",
  HOME: "/home/ada",
  LC_TIME: "C",
  DISPLAY: ":0",
  SSH_AUTH_SOCK: "/tmp/agent",
  DOCKER_HOST: "unix:///run/docker.sock",
  KUBECONFIG: "/k",
  AWS_PROFILE: "dev",
  GOOGLE_APPLICATION_CREDENTIALS: "/g.json",
  ALL_PROXY: "socks5://p",
  REQUESTS_CA_BUNDLE: "/ca.pem",
  JAVA_HOME: "/java",
  npm_config_registry: "https://npm.example",
  UV_INDEX_URL: "https://pypi.example",
  PIP_INDEX_URL: "https://pypi.example",
  // not these
  GITHUB_TOKEN: "secret",
  AWS_SECRET_ACCESS_KEY: "secret",
  UV_PUBLISH_TOKEN: "secret",
  npm_config__authToken: "secret",
  npm_config_package: "goblin-mcp",
  GOBLIN_TOKEN: "secret",
  MY_SETTING: "x",
  BASH_FUNC_x: "() { echo; }",
};
const names = (inherit?: boolean | readonly string[], platform: NodeJS.Platform = "linux") =>
  Object.keys(childEnvironment({ from, own: {}, inherit, platform })).sort();

const usual = [
  "ALL_PROXY",
  "AWS_PROFILE",
  "DISPLAY",
  "DOCKER_HOST",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "HOME",
  "JAVA_HOME",
  "KUBECONFIG",
  "LC_TIME",
  "PATH",
  "PIP_INDEX_URL",
  "REQUESTS_CA_BUNDLE",
  "SSH_AUTH_SOCK",
  "UV_INDEX_URL",
  "npm_config_registry",
];

describe("what a program inherits", () => {
  test("is told in the documents", () => {
    const docs = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8");
    const told = (name: string) =>
      docs.includes(`\`${name.replace(/\(x86\)$|W6432$/, "").replace(/^(Common)?Program$/, "$1ProgramFiles")}\``);
    const names = [...minimalNames, ...usualNames].filter((name) => !/_proxy$/.test(name));
    expect(names.filter((name) => !told(name))).toEqual([]);
  });

  test("by default: what users set up for all programs, and no secret", () => {
    expect(names()).toEqual(usual);
  });

  test("false: only what it cannot do without", () => {
    expect(names(false)).toEqual(["HOME", "LC_TIME", "PATH"]);
  });

  test("a list: these names and patterns besides", () => {
    expect(names(["GITHUB_TOKEN", "MY_*"])).toEqual([...usual, "GITHUB_TOKEN", "MY_SETTING"].sort());
  });

  test("true: everything but Goblin's own variables and shell functions", () => {
    expect(names(true)).toEqual(
      Object.keys(from)
        .filter((name) => name !== "GOBLIN_TOKEN" && name !== "BASH_FUNC_x")
        .sort(),
    );
    expect(names(["GOBLIN_TOKEN"])).toContain("GOBLIN_TOKEN");
  });

  test("the entry's own variables take precedence", () => {
    expect(childEnvironment({ from, own: { HOME: "/x", NEW: "1" }, inherit: false, platform: "linux" })).toEqual({
      PATH: "/bin",
      LC_TIME: "C",
      HOME: "/x",
      NEW: "1",
    });
  });

  test("on Windows names have no case", () => {
    const env = { Path: "C:\\bin", "ProgramFiles(x86)": "C:\\P", programdata: "C:\\D", windir: "C:\\W", Secret: "s" };
    expect(childEnvironment({ from: env, own: { PATH: "D:\\" }, platform: "win32" })).toEqual({
      "ProgramFiles(x86)": "C:\\P",
      programdata: "C:\\D",
      windir: "C:\\W",
      PATH: "D:\\",
    });
  });
});
