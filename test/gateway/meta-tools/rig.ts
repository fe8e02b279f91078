/**
 * A client that speaks to a gateway's meta tools and keeps what came back as it was on the wire.
 */
import { type RawHttp, rawHttp } from "../../fixtures/peers.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came; tests look into it freely
type Json = any;

export interface MetaClient {
  readonly raw: RawHttp;
  /** The whole answer to a tool call: `{result}` or `{error}`. */
  call(name: string, args?: unknown): Promise<{ result?: Json; error?: Json; text: string }>;
  /** The structured content of a call that worked, which must be the same as its text. */
  ask(name: string, args?: unknown): Promise<Json>;
  tools(): Promise<string[]>;
}

export async function metaClient(url: string): Promise<MetaClient> {
  const raw = rawHttp(url);
  await raw.initialize();
  const call: MetaClient["call"] = async (name, args) => {
    const { message, text } = await raw.call("tools/call", { name, ...(args !== undefined && { arguments: args }) });
    return { result: message.result, error: message.error, text };
  };
  return {
    raw,
    call,
    async ask(name, args) {
      const { result, error } = await call(name, args);
      if (error) throw new Error(`${name}: ${JSON.stringify(error)}`);
      if (result.content.length !== 1 || result.content[0].text !== JSON.stringify(result.structuredContent)) {
        throw new Error(`${name}: text and structured content differ`);
      }
      return result.structuredContent;
    },
    tools: async () => (await raw.call("tools/list", {})).message.result.tools.map((tool: Json) => tool.name),
  };
}
