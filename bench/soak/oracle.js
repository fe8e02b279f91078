// @ts-check
// What must be true of every answer and every update, and what was not.
//
// An answer: exactly one for each request, under its id, from the server that was asked, with what was sent; or an error of the gateway
// that says why there is none. An update: after a change that the server confirmed, everybody who was subscribed hears of it.

/** Errors that a call may end with while servers are broken on purpose. */
const HONEST = new Set(["BACKEND_UNAVAILABLE", "TIMEOUT", "LimitExceeded", "BACKEND_ERROR", "CANCELLED"]);
/** What the scripted server itself answers when told to. */
const SCRIPTED = "scripted error";

export function createOracle() {
  const counts = { calls: 0, answered: 0, refused: 0, lostAnswers: 0, wrongDeliveries: 0, updates: 0, lostUpdates: 0 };
  /** @type {string[]} */
  const problems = [];
  /** @type {Set<{ session: object, server: string, since: number }>} */
  const owed = new Set();
  /** When each session last heard of each server. @type {WeakMap<object, Map<string, number>>} */
  const heard = new WeakMap();

  /** @param {"lostAnswers" | "wrongDeliveries" | "lostUpdates"} kind @param {string} what */
  function wrong(kind, what) {
    counts[kind]++;
    if (problems.length < 20) problems.push(`${kind}: ${what.slice(0, 300)}`);
  }

  return {
    counts,
    problems,
    /**
     * @param {{ id: string, server: string, check: (result: any) => boolean }} asked
     * @param {any[]} messages everything that came back for it
     * @returns {boolean} whether the server answered
     */
    judge({ id, server, check }, messages) {
      counts.calls++;
      const answers = messages.filter((message) => message?.id !== undefined && message.method === undefined);
      const own = answers.filter((message) => message.id === id);
      if (answers.length > own.length) wrong("wrongDeliveries", `${id} got ${JSON.stringify(answers)}`);
      if (own.length > 1) wrong("wrongDeliveries", `${id} was answered ${own.length} times`);
      const [answer] = own;
      if (!answer) {
        wrong("lostAnswers", `${id} to ${server}`);
        return false;
      }
      if (answer.error) {
        counts.refused++;
        const { code } = answer.error.data ?? {};
        if (!HONEST.has(code) && answer.error.message !== SCRIPTED) {
          wrong("wrongDeliveries", `${id} to ${server}: ${JSON.stringify(answer.error)}`);
        }
        return false;
      }
      counts.answered++;
      if (!check(answer.result)) wrong("wrongDeliveries", `${id} to ${server} got ${JSON.stringify(answer.result)}`);
      return true;
    },
    /** @param {string} id @param {unknown} error */
    lost(id, error) {
      counts.calls++;
      wrong("lostAnswers", `${id}: ${error}`);
    },
    /** A server confirmed a change that began at `since`. @param {Iterable<object>} sessions @param {string} server @param {number} since */
    changed(sessions, server, since) {
      for (const session of sessions) {
        // The update may well come before the answer.
        if ((heard.get(session)?.get(server) ?? 0) < since) owed.add({ session, server, since });
      }
    },
    /** @param {object} session @param {string} server */
    updated(session, server) {
      counts.updates++;
      heard.set(session, (heard.get(session) ?? new Map()).set(server, performance.now()));
      for (const debt of owed) if (debt.session === session && debt.server === server) owed.delete(debt);
    },
    /** @param {object} session */
    gone(session) {
      for (const debt of owed) if (debt.session === session) owed.delete(debt);
    },
    get owed() {
      return owed.size;
    },
    settle() {
      for (const { server, since } of owed) {
        wrong("lostUpdates", `of ${server}, ${Math.round(performance.now() - since)} ms ago`);
      }
    },
  };
}
