/**
 * A gateway whose server returns what it is told (`raw` of the scripted servers), with kept results
 * in a folder of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGoblin } from "../../fixtures/goblin.ts";
import { onDispose, rawHttp, type Scripted, type ScriptedOptions, startScripted } from "../../fixtures/peers.ts";

export interface Scene {
  readonly goblin: Awaited<ReturnType<typeof startGoblin>>;
  readonly web: Scripted;
  /** The folder of the kept results. */
  readonly folder: string;
}

export async function startScene(
  config: Record<string, unknown>,
  { entry = {}, ...options }: ScriptedOptions & { entry?: Record<string, unknown> } = {},
): Promise<Scene> {
  const web = await startScripted({ transport: "http", ...options });
  const state = mkdtempSync(join(tmpdir(), "goblin-results-"));
  const goblin = await startGoblin(
    { mcpServers: { web: { ...web.entry, ...entry } }, metaTools: {}, ...config },
    { env: { ...process.env, XDG_STATE_HOME: state } },
  );
  onDispose(() => rmSync(state, { recursive: true, force: true }));
  return { goblin, web, folder: join(state, "goblin", "results") };
}

// biome-ignore lint/suspicious/noExplicitAny: results as they came; tests look into them freely
export type Given = any;

/** A client with a session that calls the tool `raw` for a result of its own making. */
export async function session(url: string, token?: string, version?: string) {
  const client = rawHttp(url);
  if (token) client.headers["authorization"] = `Bearer ${token}`;
  await client.initialize(version);
  const call = async (method: string, params: Record<string, unknown> = {}): Promise<Given> =>
    (await client.call(method, params)).message;
  const tool = async (name: string, args: Record<string, unknown>): Promise<Given> =>
    (await call("tools/call", { name, arguments: args })).result;
  return {
    client,
    call,
    tool,
    /** The answer to a call that returns this result. */
    returning: (result: unknown): Promise<Given> => tool("web_raw", { result }),
    /** The answer to a call that returns this JSON, whatever is in it. */
    returningText: (text: string): Promise<Given> => tool("web_raw", { text }),
    read: (uri: string) => call("resources/read", { uri }),
    names: async (): Promise<string[]> =>
      (await call("tools/list")).result.tools.map(({ name }: { name: string }) => name),
  };
}

export const rows = (count: number): Given[] =>
  Array.from({ length: count }, (_, i) => ({ id: i, title: `Issue number ${i}`, labels: ["bug", "urgent"] }));

export const textResult = (text: string) => ({ content: [{ type: "text", text }] });

export function linkIn({ content }: Given): Given {
  return content.find(({ type }: Given) => type === "resource_link");
}

export function idIn(result: Given): string {
  return /goblin:\/\/result\/([\w-]+)/.exec(result.content[0].text)![1]!;
}
