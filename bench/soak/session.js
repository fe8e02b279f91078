// @ts-check
// One client session over Streamable HTTP, as bare as it gets: every request by hand, every message that comes back kept.

let requests = 0;

/** @typedef {Awaited<ReturnType<typeof openSession>>} Session */

/** @param {string} url @param {(session: object, server: string) => void} updated */
export async function openSession(url, updated) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    /** @type {string | undefined} */ "mcp-session-id": undefined,
  };
  const abort = new AbortController();

  /** @param {object} message @param {AbortSignal} [signal] */
  async function post(message, signal = AbortSignal.timeout(30_000)) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const response = await fetch(url, { method: "POST", headers: /** @type {any} */ (given), body, signal });
    const text = await response.text();
    return { response, messages: messagesIn(response, text) };
  }

  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "soak", version: "1" } };
  const opened = await post({ id: "open", method: "initialize", params });
  const id = opened.response.headers.get("mcp-session-id");
  if (!id) throw new Error(`initialize: HTTP ${opened.response.status} ${JSON.stringify(opened.messages)}`);
  headers["mcp-session-id"] = id;
  await post({ method: "notifications/initialized" });

  const session = {
    /** The servers it is subscribed to, with the time from which that counts. @type {Map<string, number>} */
    subscribed: new Map(),
    url,
    headers,
    post,
    nextId: () => `q${++requests}`,
    /** @param {string} server */
    async subscribe(server) {
      const own = `s${++requests}`;
      const { messages } = await post({
        id: own,
        method: "resources/subscribe",
        params: { uri: `${server}+text:///hello` },
      });
      if (messages.some((message) => message.id === own && message.result))
        session.subscribed.set(server, performance.now());
    },
    /** Ends the session as one should. */
    async close() {
      abort.abort();
      const given = { "mcp-session-id": String(headers["mcp-session-id"]) };
      await fetch(url, { method: "DELETE", headers: given }).catch(() => {});
    },
    /** Goes away without a word. */
    vanish: () => abort.abort(),
  };
  void listen();
  return session;

  /** The standing stream, opened again whenever it ends. */
  async function listen() {
    while (!abort.signal.aborted) {
      try {
        const given = { accept: "text/event-stream", "mcp-session-id": String(headers["mcp-session-id"]) };
        const response = await fetch(url, { headers: given, signal: abort.signal });
        let rest = "";
        const decoder = new TextDecoder();
        for await (const chunk of response.body ?? []) {
          rest += decoder.decode(chunk, { stream: true });
          const blocks = rest.split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) for (const message of eventsIn(block)) heard(message);
        }
      } catch {
        // Broken, or not wanted any more.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** @param {any} message */
  function heard(message) {
    if (message.method !== "notifications/resources/updated") return;
    const server = /^(\w+)\+/.exec(message.params?.uri ?? "")?.[1];
    if (server) updated(session, server);
  }
}

/** @param {Response} response @param {string} text @returns {any[]} */
function messagesIn(response, text) {
  if ((response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    return text.split("\n\n").flatMap(eventsIn);
  }
  return text === "" ? [] : [JSON.parse(text)];
}

/** @param {string} block @returns {any[]} */
function eventsIn(block) {
  const data = block.split("\n").filter((line) => line.startsWith("data:"));
  return data.length === 0 ? [] : [JSON.parse(data.map((line) => line.slice(5)).join("\n"))];
}
