/**
 * Speaks MCP for a demo server over two streams, one JSON-RPC message per line.
 *
 * Invariant: every request is answered exactly once, unless the client cancelled it. When the input
 * ends, running calls are aborted and the returned promise resolves.
 */
import type { Readable, Writable } from "node:stream";
import { eachLine } from "../../lib/structures/lines.ts";
import { legacyVersions } from "../../mcp/protocol/envelope.ts";
import { errorTable } from "../../mcp/protocol/errors.ts";
import { type LogLevel, logLevels } from "../../mcp/protocol/log-levels.ts";
import { type Demo, type Fields, type Json, ToolFailure, type Turn, text } from "./demo.ts";

const { INVALID_PARAMS, RESOURCE_NOT_FOUND, METHOD_NOT_FOUND, INTERNAL_ERROR, PARSE_ERROR } = errorTable;

class RpcError extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

type Id = string | number;
type Method = (params: Fields, turn: Turn) => Fields | Promise<Fields>;

export function serveLines(demo: Demo, input: Readable, output: Writable): Promise<void> {
  const ended = new AbortController();
  const running = new Map<Id, AbortController>();
  const asked = new Map<Id, { resolve: (result: Fields) => void; reject: (reason: Error) => void }>();
  const subscribed = new Set<string>();
  let clientCapabilities: Fields = {};
  let logLevel: LogLevel = "debug";
  let nextId = 1;

  const send = (message: Fields) => {
    if (!ended.signal.aborted) output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const notify = (method: string, params: Fields = {}) => send({ method, params });

  const capabilities = (): Fields => ({
    tools: {},
    logging: {},
    ...(demo.prompts && { prompts: {} }),
    ...(demo.resources && { resources: { subscribe: true, listChanged: true } }),
    ...(demo.complete && { completions: {} }),
  });

  const methods: Record<string, Method> = {
    initialize: (params) => {
      clientCapabilities = fields(params.capabilities);
      const wanted = String(params.protocolVersion);
      const protocolVersion = legacyVersions.includes(wanted) ? wanted : legacyVersions[0]!;
      return { protocolVersion, capabilities: capabilities(), serverInfo: demo.info, instructions: demo.instructions };
    },
    ping: () => ({}),
    "logging/setLevel": (params) => {
      logLevel = logLevels.find((level) => level === params.level) ?? fail(INVALID_PARAMS.rpc, "Unknown log level");
      return {};
    },
    "tools/list": () => ({ tools: demo.tools.map((tool) => tool.definition) }),
    "tools/call": async (params, turn) => {
      const tool = demo.tools.find((candidate) => candidate.definition.name === params.name);
      if (!tool) return fail(INVALID_PARAMS.rpc, `Unknown tool: ${params.name}`);
      try {
        return await tool.run(fields(params.arguments), turn);
      } catch (error) {
        if (error instanceof ToolFailure) return { content: [text(error.message)], isError: true };
        throw error;
      }
    },
  };

  const { prompts, resources } = demo;
  if (prompts) {
    methods["prompts/list"] = () => ({ prompts: prompts.map((prompt) => prompt.definition) });
    methods["prompts/get"] = (params) => {
      const prompt = prompts.find((candidate) => candidate.definition.name === params.name);
      if (!prompt) return fail(INVALID_PARAMS.rpc, `Unknown prompt: ${params.name}`);
      // Prompt arguments are strings on the wire; a number that slipped in reads the same as its
      // text.
      const args = Object.fromEntries(Object.entries(fields(params.arguments)).map(([k, v]) => [k, String(v)]));
      const missing = prompt.definition.arguments.filter((argument) => argument.required && !args[argument.name]);
      if (missing.length > 0)
        fail(INVALID_PARAMS.rpc, `Missing argument: ${missing.map((argument) => argument.name).join(", ")}`);
      return { description: prompt.definition.description ?? "", messages: prompt.messages(args) };
    };
  }
  if (resources) {
    const existing = (params: Fields) => {
      const uri = String(params.uri);
      return {
        uri,
        contents: resources.read(uri) ?? fail(RESOURCE_NOT_FOUND.rpc, `Resource not found: ${uri}`, { uri }),
      };
    };
    methods["resources/list"] = () => ({ resources: resources.list() });
    methods["resources/templates/list"] = () => ({ resourceTemplates: resources.templates() });
    methods["resources/read"] = (params) => ({ contents: [existing(params).contents] });
    methods["resources/subscribe"] = (params) => {
      subscribed.add(existing(params).uri);
      return {};
    };
    methods["resources/unsubscribe"] = (params) => {
      subscribed.delete(String(params.uri));
      return {};
    };
  }
  if (demo.complete) {
    methods["completion/complete"] = (params) => {
      const argument = fields(params.argument);
      const typed = String(argument.value ?? "").toLowerCase();
      const all = demo.complete?.(fields(params.ref), String(argument.name)) ?? [];
      const values = all.filter((value) => value.toLowerCase().startsWith(typed));
      return { completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 } };
    };
  }

  const turnFor = (params: Fields, signal: AbortSignal): Turn => ({
    signal,
    clientCapabilities,
    progress: (progress, total, message) => {
      const progressToken = fields(params._meta).progressToken;
      if (progressToken !== undefined) notify("notifications/progress", { progressToken, progress, total, message });
    },
    log: (level, data) => {
      if (logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
      notify("notifications/message", { level, logger: demo.info.name, data });
    },
    ask: (method, params) => {
      signal.throwIfAborted();
      const id = `ask-${nextId++}`;
      const answer = new Promise<Fields>((resolve, reject) => {
        asked.set(id, { resolve, reject });
        signal.addEventListener("abort", () => reject(new Error("Cancelled")), { once: true });
      });
      send({ id, method, params });
      return answer.finally(() => asked.delete(id));
    },
  });

  const answer = async (id: Id, method: string, params: Fields) => {
    const cancelled = new AbortController();
    running.set(id, cancelled);
    try {
      const run = Object.hasOwn(methods, method)
        ? methods[method]!
        : fail(METHOD_NOT_FOUND.rpc, `Method not found: ${method}`);
      const result = await run(params, turnFor(params, AbortSignal.any([cancelled.signal, ended.signal])));
      if (!cancelled.signal.aborted) send({ id, result });
    } catch (error) {
      const { code, message, data } =
        error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR.rpc, String(error));
      if (!cancelled.signal.aborted) send({ id, error: { code, message, ...(data !== undefined && { data }) } });
    } finally {
      running.delete(id);
    }
  };

  const receive = (line: string) => {
    if (line.trim() === "") return;
    let message: Fields;
    try {
      message = fields(JSON.parse(line));
    } catch {
      send({ id: null, error: { code: PARSE_ERROR.rpc, message: "Parse error" } });
      return;
    }
    const { id, method } = message;
    const params = fields(message.params);
    const known = typeof id === "string" || typeof id === "number";
    if (typeof method === "string") {
      if (known) void answer(id, method, params);
      else if (method === "notifications/cancelled") running.get(params.requestId as Id)?.abort();
    } else if (known) {
      const waiting = asked.get(id);
      if (message.error) waiting?.reject(new Error(String(fields(message.error).message)));
      else waiting?.resolve(fields(message.result));
    }
  };

  demo.start?.(
    {
      resourceListChanged: () => notify("notifications/resources/list_changed"),
      resourceUpdated: (uri) => {
        if (subscribed.has(uri)) notify("notifications/resources/updated", { uri });
      },
    },
    ended.signal,
  );

  return new Promise((resolve) => {
    const end = () => {
      ended.abort();
      resolve();
    };
    eachLine(input, receive, end);
    // The client disconnected while we were writing.
    output.on("error", end);
  });
}

function fields(value: unknown): Fields {
  // Parsed JSON that is an object but not an array has exactly this type.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function fail(code: number, message: string, data?: Json): never {
  throw new RpcError(code, message, data);
}
