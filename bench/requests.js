// @ts-check
// The kinds of requests that the load generator sends and, for each, what makes its answer right.
// Every request has an id and an argument of its own, so that an answer that went to the wrong
// caller cannot pass. Large answers are compared as bytes.

import { payload } from "./client.js";
import { padding } from "./padding.js";

/** @typedef {import("./http-connection.js").Answer} Answer */
/** @typedef {import("./client.js").Client} Client */
/**
 * @typedef {{ kind: "echo", tool: string }
 *   | { kind: "big", tool: string, size: number }
 *   | { kind: "read", targets: { uri: string, expect: string }[] }
 *   | { kind: "expand", before: string, after: string, expect: string }
 *   | { kind: "search", tool: string, names: string[] }
 *   | { kind: "list", method: string }
 *   | { kind: "bytes", id: number }} Ask
 */
/**
 * @typedef {{ refused: boolean, text: string }} Problem An answer that says no is refused; all else
 *   that is not right is wrong.
 */
/** @typedef {(answer: Answer, id: string | number, n: number) => Problem | undefined} Check */
/**
 * @typedef {{ write(client: Client, id: string | number, n: number): string, check: Check,
 *   numericIds: boolean }} Kind
 */

/** @param {number} n */
const token = (n) => `token-${n}`;

/** @param {string} text @returns {Problem} */
const wrong = (text) => ({ refused: false, text });

/** @param {Answer} answer @returns {Problem | undefined} */
function failed(answer) {
  if (answer.error !== undefined) return wrong(answer.error);
  if (answer.status === 200) return undefined;
  return {
    refused: answer.status >= 400 && answer.status < 500,
    text: `HTTP ${answer.status}: ${answer.body.toString("utf8", 0, 200)}`,
  };
}

/** @param {any} message @param {string | number} id @returns {Problem | undefined} */
function wrongEnvelope(message, id) {
  if (message.id !== id) return wrong(`id ${JSON.stringify(message.id)} instead of ${JSON.stringify(id)}`);
  if (message.result === undefined) return { refused: true, text: `no result: ${JSON.stringify(message.error)}` };
  return undefined;
}

/**
 * A check on the parsed message.
 * @param {(result: any, n: number) => unknown} found
 * @param {(n: number) => unknown} expected
 * @returns {Check}
 */
const parsed = (found, expected) => (answer, id, n) => {
  const broken = failed(answer);
  if (broken !== undefined) return broken;
  try {
    const message = JSON.parse(payload(answer).toString());
    const problem = wrongEnvelope(message, id);
    if (problem !== undefined) return problem;
    const text = found(message.result, n);
    return text === expected(n)
      ? undefined
      : wrong(`${JSON.stringify(text)} instead of ${JSON.stringify(expected(n))}`);
  } catch (error) {
    return wrong(`unreadable answer: ${error}`);
  }
};

/** @type {{ [K in Ask["kind"]]: (ask: Extract<Ask, { kind: K }>) => Kind }} */
const KINDS = {
  echo: ({ tool }) => ({
    numericIds: false,
    write: (client, id, n) =>
      client.request(id, "tools/call", `"name":"${tool}","arguments":{"text":"${token(n)}"}`, tool),
    check: parsed((result) => result.content[0].text, token),
  }),

  big: ({ tool, size }) => ({
    numericIds: false,
    write: (client, id, n) =>
      client.request(id, "tools/call", `"name":"${tool}","arguments":{"text":"${token(n)}","size":${size}}`, tool),
    check: (answer, id, n) => failed(answer) ?? wrongBytes(payload(answer), id, { text: token(n), size }),
  }),

  read: ({ targets }) => {
    const target = (/** @type {number} */ n) =>
      /** @type {{ uri: string, expect: string }} */ (targets[n % targets.length]);
    return {
      numericIds: false,
      write: (client, id, n) => client.request(id, "resources/read", `"uri":"${target(n).uri}"`, target(n).uri),
      check: parsed(
        (result) => result.contents[0].text,
        (n) => target(n).expect,
      ),
    };
  },

  expand: ({ before, after, expect }) => ({
    numericIds: false,
    write: (client, id, n) => {
      const uri = before + token(n) + after;
      return client.request(id, "resources/read", `"uri":"${uri}"`, uri);
    },
    check: parsed(
      (result) => result.contents[0].text,
      (n) => expect + token(n),
    ),
  }),

  search: ({ tool, names }) => {
    const name = (/** @type {number} */ n) => /** @type {string} */ (names[n % names.length]);
    return {
      numericIds: false,
      write: (client, id, n) =>
        client.request(id, "tools/call", `"name":"${tool}","arguments":{"query":"${name(n)}"}`, tool),
      check: parsed(
        (result, n) => (JSON.stringify(result).includes(name(n)) ? name(n) : JSON.stringify(result).slice(0, 200)),
        name,
      ),
    };
  },

  list: ({ method }) => {
    const check = sameButForTheId();
    return {
      numericIds: true,
      write: (client, id) => client.request(id, method, ""),
      check: (answer, id) => failed(answer) ?? check(payload(answer), Number(id)),
    };
  },

  bytes: ({ id }) => {
    // The same work as for a list, so that the generator costs both sides the same.
    const check = sameButForTheId();
    return {
      numericIds: true,
      write: (client, asked) => client.request(asked, "tools/list", ""),
      check: (answer) => failed(answer) ?? check(payload(answer), id),
    };
  },
};

/** @param {Ask} ask @returns {Kind} */
export const createKind = (ask) => /** @type {(ask: Ask) => Kind} */ (KINDS[ask.kind])(ask);

/**
 * @param {Buffer} bytes
 * @param {string | number} id
 * @param {{ text: string, size: number }} expected
 */
function wrongBytes(bytes, id, { text, size }) {
  const start = bytes.indexOf(`"${text}`) + text.length + 1;
  const end = start + size;
  if (start <= text.length) return refusalOr(bytes, id);
  if (!bytes.subarray(start, end).equals(padding(size))) return wrong(`the text of ${text} is not what was sent`);
  try {
    // What is left without the filler is small and parsed as a whole.
    const message = JSON.parse(bytes.toString("utf8", 0, start) + bytes.toString("utf8", end));
    const found = message.result?.content[0].text;
    return (
      wrongEnvelope(message, id) ?? (found === text ? undefined : wrong(`${JSON.stringify(found)} instead of ${text}`))
    );
  } catch (error) {
    return wrong(`unreadable answer: ${error}`);
  }
}

/** @param {Buffer} bytes @param {string | number} id @returns {Problem} */
function refusalOr(bytes, id) {
  try {
    return (
      wrongEnvelope(JSON.parse(bytes.toString()), id) ??
      wrong(`not the text that was asked for: ${bytes.toString("utf8", 0, 200)}`)
    );
  } catch (error) {
    return wrong(`unreadable answer: ${error}`);
  }
}

/** Every list must equal the first one but for the id; ids have the same number of digits. */
function sameButForTheId() {
  /** @type {{ bytes: Buffer, at: number, digits: number } | undefined} */
  let first;
  return (/** @type {Buffer} */ bytes, /** @type {number} */ id) => {
    const digits = String(id);
    if (!first) {
      const problem = wrongEnvelope(JSON.parse(bytes.toString()), id);
      if (problem !== undefined) return problem;
      first = { bytes, at: bytes.lastIndexOf(`"id":${digits}`) + 5, digits: digits.length };
      const head = bytes.indexOf(`"id":${digits}`) + 5;
      if (head < 64) first.at = head;
      return undefined;
    }
    const { at } = first;
    const to = at + first.digits;
    if (bytes.toString("latin1", at, to) !== digits)
      return wrong(`not the id ${digits}: ${bytes.toString("utf8", 0, 100)}`);
    const same =
      bytes.length === first.bytes.length &&
      bytes.subarray(0, at).equals(first.bytes.subarray(0, at)) &&
      bytes.subarray(to).equals(first.bytes.subarray(to));
    return same ? undefined : wrong("a list that differs from the first one");
  };
}
