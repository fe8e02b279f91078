/**
 * The gateway's instructions name its servers, and use the names that are valid here.
 */
import { afterEach, describe, expect, test } from "vitest";
import { type Behind, instructionsOf as written } from "../../../src/core/routing/instructions.ts";
import type { PeerInfo } from "../../../src/mcp/peers/peer.ts";
import type { NamedList } from "../../../src/upstream/catalog/named.ts";
import type { ServerInfo } from "../../../src/upstream/servers/servers.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

async function instructionsOf(instructions: string, names: string[], config: Record<string, unknown> = {}) {
  const one = await startScripted({ name: "one", script: { instructions, lists: { tools: names.map(tool) } } });
  const { url } = await startGoblin({ mcpServers: { one: one.entry }, ...config });
  return (await rawHttp(url).initialize()).message.result.instructions as string;
}

describe("the first sentence", () => {
  test("names every server that is not disabled, ready or not", async () => {
    const [one, two] = [await startScripted({ name: "one" }), await startScripted({ name: "two" })];
    const mcpServers = { one: one.entry, gone: { command: "/no/such" }, two: { ...two.entry, enabled: false } };
    const { url } = await startGoblin({ mcpServers });
    const first = "This gateway combines these MCP servers: one, gone.";
    const { message } = await rawHttp(url).initialize();
    expect(message.result.instructions.split("\n")[0]).toBe(first);
    expect((await stateless(url).call("server/discover")).message.result.instructions.split("\n")[0]).toBe(first);
  });

  test("says how to find tools that are not listed", async () => {
    const text = await instructionsOf("", ["x"], { tools: { expose: "search" } });
    expect(text.split("\n")[0]).toBe(
      "This gateway combines these MCP servers: one. Tools that are not listed are found with `search_tools`.",
    );
  });

  test("is not said where there are no servers", async () => {
    const { url } = await startGoblin({ mcpServers: {} });
    expect((await rawHttp(url).initialize()).message.result.instructions).toBeUndefined();
  });
});

describe("names of tools", () => {
  test.each([
    ["Use `get-roots-list` first.", "Use `one_get-roots-list` first."],
    ["Use get-roots-list, then (read_file).", "Use one_get-roots-list, then (one_read_file)."],
    ["- read_file: reads. Or readFile.", "- one_read_file: reads. Or one_readFile."],
    ["`search` finds; `search(q)` too.", "`one_search` finds; `one_search(q)` too."],
    ["Call read_file.\n\n```\nread_file(x)\n```", "Call one_read_file.\n\n```\none_read_file(x)\n```"],
    // Not certainly a tool.
    ["To search, search well. Search!", "To search, search well. Search!"],
    ["See /docs/read_file and https://x.org/?read_file=1", "See /docs/read_file and https://x.org/?read_file=1"],
    ["--read_file my_read_file read_file2 read_file.md", "--read_file my_read_file read_file2 read_file.md"],
    ["one_read_file is known already", "one_read_file is known already"],
    ["read_file:///x read_file@host read_file=1", "read_file:///x read_file@host read_file=1"],
    ["unknown_tool stays", "unknown_tool stays"],
  ])("%s", async (written, wanted) => {
    const text = await instructionsOf(written, ["get-roots-list", "read_file", "readFile", "search"]);
    expect(text).toContain(`## one\n\n${wanted}`);
  });

  test("an alias, a name that is cut and a name without a repeated prefix are the listed ones", async () => {
    const one = { tools: { overrides: { old_name: { alias: "fresh" } } } };
    const server = await startScripted({
      name: "one",
      script: { instructions: "`old_name` `one_thing`", lists: { tools: ["old_name", "one_thing"].map(tool) } },
    });
    const config = { mcpServers: { one: { ...server.entry, ...one } }, names: { repeatPrefix: false } };
    const { url } = await startGoblin(config);
    expect((await rawHttp(url).initialize()).message.result.instructions).toContain("`one_fresh` `one_thing`");
  });

  test("nothing is replaced where names are the original ones", async () => {
    const server = await startScripted({
      name: "one",
      script: { instructions: "Use read_file.", lists: { tools: [tool("read_file")] } },
    });
    const { url } = await startGoblin({ mcpServers: { one: { ...server.entry, prefix: "" } } });
    expect((await rawHttp(url).initialize()).message.result.instructions).toContain("## one\n\nUse read_file.");
  });

  // The limit is far above what a linear search needs, and far below what a quadratic one does.
  test("hyphens in the middle of a long word are read once", { timeout: 20_000 }, () => {
    const instructions = `a${"-".repeat(400_000)}b`;
    const tools = { entries: [{ serverId: "one", name: "x", exposed: "one_x" }] } as unknown as NamedList;
    const behind = { servers: [], tools, local: [] } as unknown as Behind;
    const info = { instructions } as PeerInfo;
    const server = { id: "one", info } as ServerInfo;
    expect(written([server], behind)).toBe(`## one\n\n${instructions}`);
  });

  test("many short names do not make a text of megabytes", async () => {
    const text = await instructionsOf("a1 ".repeat(5000), ["a1"], {});
    expect(text.length).toBeLessThan(50_000);
  });
});
