// @ts-check
// What must be true of everything a fuzzer saw. Each judge takes what was seen and says what is
// wrong with it, or nothing. None of them knows the gateway; test/fuzz/judges.slow.ts shows that
// each can find fault.

/**
 * What came back for one request: the status, the whole body, the texts of the messages in it, and
 * whether it took too long.
 * @typedef {{ status?: number, text: string, messages: string[], timedOut?: boolean, failed?:
 * string }} Seen
 */
/** @typedef {string | undefined} Verdict */

const MAX_RSS_MB = 600;
const MAX_MORE_DESCRIPTORS = 64;
const SHOWN = 300;

/**
 * It was answered, or refused by closing the connection where that is allowed.
 * @param {Seen} seen
 * @param {{ mayClose?: boolean }} [allowed]
 * @returns {Verdict}
 */
export function answered({ status, timedOut, failed }, { mayClose = false } = {}) {
  if (timedOut) return "hang: nothing came back in time";
  if (status === undefined && !mayClose) return `no answer: ${failed ?? "the connection was closed"}`;
  return undefined;
}

/** @param {Seen} seen @returns {Verdict} */
export function noServerError({ status, text }) {
  if (status !== undefined && status >= 500) return `status ${status}: ${text.slice(0, SHOWN)}`;
  return undefined;
}

/** Each message is JSON by itself. @param {Seen} seen @returns {Verdict} */
export function validJson({ messages }) {
  for (const text of messages) if (parsed(text) === undefined) return `not JSON: ${text.slice(0, SHOWN)}`;
  return undefined;
}

/** Nothing went wrong that nobody thought of. @param {Seen} seen @returns {Verdict} */
export function noInternalError({ messages }) {
  for (const answer of answersIn(messages)) {
    if (answer.error?.data?.code === "INTERNAL_ERROR")
      return `internal error: ${JSON.stringify(answer.error).slice(0, SHOWN)}`;
  }
  return undefined;
}

/**
 * Every request is answered once under its own id, and nobody else's answer is among them. An
 * answer to what could not be read has the id null.
 * @param {Seen} seen @param {readonly (string | number)[]} ids @returns {Verdict}
 */
export function ownAnswers({ messages }, ids) {
  const left = [...ids];
  for (const { id } of answersIn(messages)) {
    if (id === null) continue;
    const at = left.indexOf(id);
    if (at === -1)
      return `an answer with the id ${JSON.stringify(id)}, which is not wanted; wanted were ${JSON.stringify(ids)}`;
    left.splice(at, 1);
  }
  return left.length > 0 ? `no answer to ${JSON.stringify(left)}: ${messages.join(" ").slice(0, SHOWN)}` : undefined;
}

/**
 * The bytes that were sent came back.
 * @param {Seen} seen
 * @param {string} sent
 * @returns {Verdict}
 */
export function lossless({ text }, sent) {
  return text.includes(sent) ? undefined : `sent ${sent.slice(0, SHOWN)}, came back ${text.slice(0, SHOWN)}`;
}

/**
 * A result has the mark of its own call; an error names the server.
 * @param {Seen} seen
 * @param {string} mark
 * @param {string} server
 * @returns {Verdict}
 */
export function ownResult({ messages }, mark, server) {
  for (const text of messages) {
    const answer = parsed(text);
    if (answer?.result !== undefined && !text.includes(mark)) return `another call's answer: ${text.slice(0, SHOWN)}`;
    if (answer?.error && answer.error.data?.serverId !== undefined && answer.error.data.serverId !== server) {
      return `an error of another server: ${text.slice(0, SHOWN)}`;
    }
  }
  return undefined;
}

/**
 * A client that does nothing wrong is served.
 * @param {Seen} seen
 * @param {string} mark
 * @returns {Verdict}
 */
export function served({ status, messages, timedOut, failed }, mark) {
  const fine = answersIn(messages).some((answer) => JSON.stringify(answer.result ?? null).includes(mark));
  if (fine) return undefined;
  const what = timedOut ? "nothing in time" : (failed ?? `${status} ${messages.join(" ").slice(0, SHOWN)}`);
  return `an honest call was not served: ${what}`;
}

/**
 * @param {{ rssMb: number, descriptors: number } | undefined} now
 * @param {{ descriptors: number } | undefined} before
 * @returns {Verdict}
 */
export function withinBounds(now, before) {
  if (!now || !before) return undefined;
  if (now.rssMb > MAX_RSS_MB) return `memory: ${Math.round(now.rssMb)} MB, more than ${MAX_RSS_MB}`;
  const more = now.descriptors - before.descriptors;
  return more > MAX_MORE_DESCRIPTORS ? `descriptors: ${more} more than at the start` : undefined;
}

/** @param {string | undefined} ended @returns {Verdict} */
export function alive(ended) {
  return ended === undefined ? undefined : `the gateway ${ended}`;
}

/** @param {string[]} messages @returns {any[]} */
function answersIn(messages) {
  return messages
    .map(parsed)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter((value) => typeof value === "object" && value !== null && !("method" in value) && "id" in value);
}

/** @param {string} text @returns {any} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
