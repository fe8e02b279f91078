/**
 * Raw clients of every protocol version behind one interface, so that a test can be written once.
 * Each negotiates exactly the version it is made for, counts its ids from 1 like all others, and
 * answers questions by the means of its version.
 */
import type { RunningGoblin } from "../fixtures/goblin.ts";
import { until } from "../fixtures/peers.ts";
import { httpWire, type Message, type Sent, sseWire, stdioWire, type Wire } from "./wires.ts";

export const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Version = (typeof versions)[number];
export const ways = ["http", "stdio"] as const;
export type Way = (typeof ways)[number];

export interface Ask {
  readonly token?: string | number;
  /** Asked for with the request, in versions that can; others have set it before. */
  readonly level?: string;
  readonly meta?: Record<string, unknown>;
}

export interface Exchange {
  /** The message that answers, after all questions. */
  readonly answer: Promise<Message>;
  /**
   * Cancels the request, as the version and the transport have it, with this reason where they let
   * it have one.
   */
  cancel(reason?: string): void;
}

export interface Speaker {
  readonly name: string;
  readonly version: Version;
  /** Notifications, in the order they came. */
  readonly heard: Message[];
  /** What the client was asked. */
  readonly questions: Message[];
  begin(method: string, params: Record<string, unknown>, ask?: Ask): Exchange;
  request(method: string, params: Record<string, unknown>, ask?: Ask): Promise<Message>;
  /** Asks for log messages from this level on, for all requests that follow. */
  wantLogs(level: string): Promise<void>;
  /**
   * Asks to hear of a resource, and of changed tools; ends when that holds. The returned function
   * takes it back.
   */
  watch(uri: string): Promise<() => Promise<void>>;
  close(): void;
}

export interface SpeakerOptions {
  readonly goblin: Pick<RunningGoblin, "url" | "sseUrl"> & Partial<Pick<RunningGoblin, "gateway">>;
  readonly version: Version;
  readonly way: Way;
  readonly name?: string;
  /** Its bearer token, over Streamable HTTP. */
  readonly token?: string;
}

const elicitationSince = "2025-06-18";

export async function connectSpeaker(options: SpeakerOptions): Promise<Speaker> {
  const { version, way, name = `${version} ${way}` } = options;
  const heard: Message[] = [];
  const questions: Message[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  let answerQuestion: (message: Message) => void = () => {};
  const wire = await wireOf(options, (message, headers) => {
    const session = headers?.get("mcp-session-id");
    if (session) wire.headers["mcp-session-id"] = session;
    if (message.method === undefined) return waiting.get(message.id)?.(message);
    if (message.id === undefined) heard.push(message);
    else answerQuestion(message);
  });
  if (options.token !== undefined) wire.headers["authorization"] = `Bearer ${options.token}`;
  let lastId = 0;
  const send = (method: string, params: unknown, headers?: Record<string, string>) => {
    const id = ++lastId;
    let sent: Sent | undefined;
    const answer = new Promise<Message>((resolve) => {
      waiting.set(id, resolve);
      sent = wire.send({ jsonrpc: "2.0", id, method, params }, headers);
    }).finally(() => waiting.delete(id));
    return { id, answer, sent: sent! };
  };
  const note = (method: string, params?: unknown) =>
    wire.send({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });
  const shared = { name, version, heard, questions, close: () => wire.close() };
  const tools: Tools = { wire, send, note, shared, reply: (question) => replyOf(name, question) };
  if (version === "2026-07-28") return statelessSpeaker(tools);
  answerQuestion = (message) => {
    questions.push({ method: message.method, params: message.params });
    wire.send({ jsonrpc: "2.0", id: message.id, result: replyOf(name, message) });
  };
  return sessionSpeaker(tools);
}

interface Tools {
  readonly wire: Wire;
  send(
    method: string,
    params: unknown,
    headers?: Record<string, string>,
  ): { id: number; answer: Promise<Message>; sent: Sent };
  note(method: string, params?: unknown): void;
  readonly shared: Pick<Speaker, "name" | "version" | "heard" | "questions" | "close">;
  reply(question: Message): unknown;
}

async function sessionSpeaker({ wire, send, note, shared }: Tools): Promise<Speaker> {
  const { version, name } = shared;
  const params = {
    protocolVersion: version,
    capabilities: capabilitiesOf(version),
    clientInfo: { name, version: "1" },
  };
  const opened = await send("initialize", params).answer;
  if (opened.result?.protocolVersion !== version) throw new Error(`Not ${version}: ${JSON.stringify(opened)}`);
  if (version >= "2025-06-18") wire.headers["mcp-protocol-version"] = version;
  note("notifications/initialized");
  await wire.stand();
  const speaker: Speaker = {
    ...shared,
    begin(method, given, ask = {}) {
      const meta = { ...ask.meta, ...(ask.token !== undefined && { progressToken: ask.token }) };
      const { id, answer } = send(method, { ...given, ...(Object.keys(meta).length > 0 && { _meta: meta }) });
      const cancel = (reason = "enough"): void => note("notifications/cancelled", { requestId: id, reason });
      return { answer, cancel };
    },
    request: (method, given, ask) => speaker.begin(method, given, ask).answer,
    async wantLogs(level) {
      await speaker.request("logging/setLevel", { level });
    },
    async watch(uri) {
      const answer = await speaker.request("resources/subscribe", { uri });
      if (answer.error) throw new Error(JSON.stringify(answer.error));
      return async () => void (await speaker.request("resources/unsubscribe", { uri }));
    },
  };
  return speaker;
}

const PREFIX = "io.modelcontextprotocol/";
const NAMED: Record<string, string> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

function statelessSpeaker({ wire, send, note, shared, reply }: Tools): Speaker {
  const { version, name } = shared;
  let level: string | undefined;
  const start = (method: string, params: Record<string, unknown>, ask: Ask) => {
    const wanted = ask.level ?? level;
    const _meta = {
      [`${PREFIX}protocolVersion`]: version,
      [`${PREFIX}clientCapabilities`]: capabilitiesOf(version),
      [`${PREFIX}clientInfo`]: { name, version: "1" },
      ...(wanted !== undefined && { [`${PREFIX}logLevel`]: wanted }),
      ...(ask.token !== undefined && { progressToken: ask.token }),
      ...ask.meta,
    };
    const named = params[NAMED[method] ?? ""];
    const headers = { "mcp-protocol-version": version, "mcp-method": method };
    return send(method, { ...params, _meta }, typeof named === "string" ? { ...headers, "mcp-name": named } : headers);
  };
  const giveUp = ({ id, sent }: { id: number; sent: Sent }, reason?: string): void => {
    if (wire.kind === "http") sent.close();
    else note("notifications/cancelled", { requestId: id, ...(reason !== undefined && { reason }) });
  };
  const speaker: Speaker = {
    ...shared,
    begin(method, given, ask = {}) {
      let current = start(method, given, ask);
      const rounds = async (): Promise<Message> => {
        for (;;) {
          const message = await current.answer;
          if (message.result?.resultType !== "input_required") return message;
          const { inputRequests, requestState } = message.result;
          const inputResponses: Record<string, unknown> = {};
          for (const [key, question] of Object.entries<Message>(inputRequests)) {
            shared.questions.push({ method: question.method, params: question.params });
            inputResponses[key] = reply(question);
          }
          current = start(method, { ...given, inputResponses, requestState }, ask);
        }
      };
      return { answer: rounds(), cancel: (reason) => giveUp(current, reason) };
    },
    request: (method, given, ask) => speaker.begin(method, given, ask).answer,
    async wantLogs(wanted) {
      level = wanted;
    },
    async watch(uri) {
      const notifications = { toolsListChanged: true, resourceSubscriptions: [uri] };
      const listening = start("subscriptions/listen", { notifications }, {});
      const acknowledged = await until(() => shared.heard.find((m) => subscriptionOf(m) === listening.id));
      if (acknowledged.params.notifications.resourceSubscriptions?.[0] !== uri) {
        throw new Error(JSON.stringify(acknowledged));
      }
      return async () => giveUp(listening);
    },
  };
  return speaker;
}

function subscriptionOf(message: Message): unknown {
  return message.params?._meta?.[`${PREFIX}subscriptionId`];
}

/** What the client of this name says to a question. */
export function replyOf(name: string, { method }: Message): unknown {
  if (method === "elicitation/create") return { action: "accept", content: { name } };
  if (method === "roots/list") return { roots: [{ uri: "file:///home", name }] };
  return { model: "m", role: "assistant", content: { type: "text", text: `said by ${name}` } };
}

function capabilitiesOf(version: Version): Record<string, unknown> {
  return { sampling: {}, roots: {}, ...(version >= elicitationSince && { elicitation: { form: {}, url: {} } }) };
}

async function wireOf({ goblin, version, way }: SpeakerOptions, take: Parameters<typeof httpWire>[1]): Promise<Wire> {
  if (way === "stdio") return stdioWire(goblin.gateway!, take);
  return version === "2024-11-05" ? sseWire(goblin.sseUrl, take) : httpWire(goblin.url, take);
}
