// @ts-check
// What goes wrong in a soak, one at a time, at random: servers that crash, hang, lie, flood and come back, clients that do not behave,
// a config that changes.

import { connect } from "node:net";

/** @typedef {import("./backends.js").Backend} Backend */
/** @typedef {import("./session.js").Session} Session */
/** @typedef {{ backends: Backend[], writeConfig: (change: (state: ConfigState) => void) => void, open: () => Promise<Session>, url: string, random: () => number }} World */
/** @typedef {{ generations: Record<string, number>, pageSize: number, callMs: number, extra: boolean }} ConfigState */

/** Faults of the next call of `echo`; each is used up by one call. */
const RULES = [
  { do: "crash" },
  { do: "drop" },
  { do: "closeMidway" },
  { do: "hang" },
  { do: "half" },
  { do: "late", ms: 2500 },
  { do: "twice" },
  { do: "wrongId" },
  { do: "invalidJson" },
  { do: "error" },
  { do: "huge", mb: 1 },
  { do: "flood", kind: "list_changed", count: 300 },
  { do: "flood", kind: "message", count: 300 },
  { do: "flood", kind: "stderr", count: 300 },
];
const HTTP_RULES = [
  { do: "status", status: 401 },
  { do: "status", status: 404 },
  { do: "status", status: 500 },
  { do: "status", status: 503, retryAfter: 1 },
  { do: "empty" },
  { do: "loseSession" },
];

/** @param {World} world @returns {(() => Promise<string>)} */
export function createFaults({ backends, writeConfig, open, url, random }) {
  /** @template T @param {readonly T[]} list @returns {T} */
  const pick = (list) => /** @type {T} */ (list[Math.floor(random() * list.length)]);

  /** A tool of a server that does harm; whatever it answers is right. @param {string} server @param {string} tool @param {object} [args] */
  async function harm(server, tool, args = {}) {
    const session = await open();
    await session.post({ id: "harm", method: "tools/call", params: { name: `${server}_${tool}`, arguments: args } });
    await session.close();
  }

  /** @param {string} text */
  async function bare(text) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(text);
    await new Promise((resolve) => setTimeout(resolve, 30));
    socket.destroy();
  }

  const faults = {
    async rule() {
      const backend = pick(backends);
      const rule = pick(backend.transport === "http" ? [...RULES, ...HTTP_RULES] : RULES);
      backend.script({ rules: [{ method: "tools/call", name: "echo", times: 1, ...rule }] });
      return `${backend.id} will ${rule.do}`;
    },
    async crash() {
      const backend = pick(backends);
      if (backend.transport === "stdio") await harm(backend.id, "exit", { code: 1 });
      else backend.kill();
      return `${backend.id} crashed`;
    },
    async streams() {
      const backend = pick(backends.filter(({ transport }) => transport !== "stdio"));
      await harm(backend.id, pick(["close_streams", "drop_sessions"]));
      return `${backend.id} closed its streams or sessions`;
    },
    async garbage() {
      const backend = pick(backends.filter(({ transport }) => transport === "stdio"));
      await harm(backend.id, "garbage", { text: "Listening…\n" });
      return `${backend.id} printed garbage`;
    },
    async replace() {
      const { id } = pick(backends.filter(({ transport }) => transport === "stdio"));
      writeConfig((state) => {
        state.generations[id] = (state.generations[id] ?? 0) + 1;
      });
      return `${id} replaced by an edit`;
    },
    async settings() {
      writeConfig((state) => {
        state.pageSize = 10 + Math.floor(random() * 500);
        state.callMs = 1000 + Math.floor(random() * 500);
        state.extra = random() < 0.5;
      });
      return "settings edited, a server added or removed";
    },
    async brokenEdit() {
      writeConfig((state) => {
        state.pageSize = -1;
      });
      return "a broken edit";
    },
    async halfBody() {
      const length = "content-length: 1000";
      await bare(
        `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${length}\r\n\r\n{"jsonrpc"`,
      );
      return "a client sent half a body";
    },
    async vanish() {
      const session = await open();
      const params = { name: `${pick(backends).id}_sleep`, arguments: { ms: 300 } };
      const gone = AbortSignal.timeout(50);
      await session.post({ id: "gone", method: "tools/call", params }, gone).catch(() => {});
      session.vanish();
      return "a client vanished in a call";
    },
  };
  return () => pick(Object.values(faults))();
}
