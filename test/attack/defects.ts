/**
 * Every defect that attacks found, and the tests that fail if it comes back. The ids with a letter
 * in front (`A-H1`, `B2`) are those of the second round of attacks.
 *
 * `npm run attack` runs exactly these. `defects.test.ts` checks that each defect has tests and that
 * each test is where this table says. A title is written as its file writes it, placeholders
 * included.
 */
import { type Defect, proofs } from "./proof.ts";

export const defects: readonly Defect[] = [
  {
    id: "H1",
    what: "a server answers requests that went to another server",
    tests: [
      ...proofs("test/regression/forged-answers.test.ts", [
        "%s, ${size}: the call fails by its server's fault",
        "clients of either era, on either front, hear of it, ${size}",
        "what else stands in the envelope is left out, ${size}",
        "of a server: a forged element fails its call, the others count, %s",
        "of a client: no server adds an element to the answer, %s",
      ]),
      ...proofs("test/regression/forged-answers-sdk.slow.ts", [
        "SDK $sdk over $front: the bank's answer is the bank's",
      ]),
    ],
  },
  {
    id: "H2",
    what: "a name of an absent server goes to another server",
    tests: [
      ...proofs("test/regression/names-of-absent-servers.test.ts", [
        "github is disabled",
        "github's tool is denied, and it has nothing else",
        "github crashes at its start",
        "github is starting for longer than a request may take",
        "github was there, crashed and was withdrawn",
      ]),
      ...proofs("test/unit/core/routing/extension.test.ts", [
        "what belongs to a configured server goes to no other: %j",
      ]),
    ],
  },
  {
    id: "H3",
    what: "a server's question or log line for one client reaches another",
    tests: [
      ...proofs("test/gateway/late-messages.test.ts", [
        "a call that ada cancelled, over %s",
        "a call that timed out",
        "over HTTP, on the stream of a call that was answered",
        "what is said after a client has left does not go to the clients that are left",
      ]),
      ...proofs("test/gateway/parties.test.ts", ["gives each client its own connection over %s by default"]),
    ],
  },
  {
    id: "H4",
    what: "tasks of one client are listed, read and cancelled by another",
    tests: proofs("test/gateway/offerings/task-owner.test.ts", [
      "each has its own list, over all servers",
      "a foreign task is answered as one that never was, and stays as it is",
      "with tokens: a task is the token's",
      "without tokens: a task is open to anyone with its id, and the server's own id does not reveal it",
    ]),
  },
  {
    id: "H5",
    what: "one server ends or stops the whole gateway",
    tests: [
      ...proofs("test/hostile/memory.slow.ts", [
        "empty data lines on the standing stream, many megabytes of them",
        "%s in pieces of one byte",
        "an endless list of %s",
      ]),
      ...proofs("test/hostile/lists.test.ts", ["%s: the tool is left out, the others are listed"]),
      ...proofs("test/hostile/description.test.ts", [
        "of a megabyte are cut at a word, with a mark",
        "with %s stay in their section",
        "a handshake of many megabytes is refused with the reason; everyone else gets the other servers' lists",
      ]),
      ...proofs("test/unit/upstream/catalog/pages.test.ts", [
        "a page ends before it is too large; an entry that is too large alone is a page of its own",
      ]),
      ...proofs("test/unit/upstream/catalog/match-budget.test.ts", [
        "has one budget for all templates: what is behind too many costly ones is not found",
      ]),
    ],
  },
  {
    id: "H6",
    what: "the current folder is trusted",
    tests: [
      ...proofs("test/cli/trust.slow.ts", [
        "goblin.json of the folder runs nothing before it is trusted",
        "a config of the folder leads to this machine only, trusted or not",
        "127.0.0.1.example.com is not this machine",
        "no variable gets into the gateway of a config of the folder",
        "a changed file is not applied until it is trusted, then at once",
      ]),
      ...proofs("test/cli/completion-quoting.slow.ts", ["%s hands a name on and does not run it"]),
    ],
  },
  {
    id: "H7",
    what: "one client ends the whole gateway",
    tests: proofs("test/regression/greedy-clients.slow.ts", [
      "sessions whose clients say megabytes of themselves cost little",
      "answers that were delivered on event streams are not kept",
      "a batch of thousands is refused at once, and the gateway goes on",
      "the messages of a batch are calls of their session, and its answers have a bound together",
    ]),
  },
  {
    id: "M1",
    what: "slow calls of one client close a healthy server to the others",
    tests: proofs("test/faults/reconnecting.test.ts", [
      "that is slow for one client stays open to others: each call ends by its own limit",
    ]),
  },
  {
    id: "M2",
    what: "sockets are never given up",
    tests: [
      ...proofs("test/unit/mcp/links/streamable-http.test.ts", [
        "a message that needs no answer and gets none is given up",
        "a stream that stays open behind its answer is ended, and the link goes on",
        "of streams that stay open behind their answers there are never many",
      ]),
      ...proofs("test/attack/sockets.test.ts", ["calls to a hung server that are cancelled leave few sockets"]),
      ...proofs("test/faults/clients.test.ts", ["that opens a stream and begins no session is cut"]),
      ...proofs("test/gateway/limits.test.ts", ["sessions: by streams of clients that have none"]),
    ],
  },
  {
    id: "M3",
    what: "a client's token is an operator's token",
    tests: proofs("test/gateway/http/admin-door.test.ts", [
      "a client's token reads and does nothing at the API; the operator's does",
      "with tokens for clients and none for admins it is closed, and names the key",
      "at an address of its own there is the API and nothing else, and no API elsewhere",
    ]),
  },
  {
    id: "M4",
    what: 'clients without a session share one program in spite of share "session"',
    tests: proofs("test/gateway/parties.test.ts", [
      "never meet on one connection over %s",
      "is not left to a client with the same words and another token",
    ]),
  },
  {
    id: "M5",
    what: "unsent messages, waiters, questions, ended sessions and programs without a bound",
    tests: [
      ...proofs("test/hostile/memory.slow.ts", [
        "large calls that are cancelled before a program reads them",
        "large calls that are cancelled while they wait for a place at a server that hangs",
      ]),
      ...proofs("test/hostile/questions.test.ts", [
        "a call with a hundred questions: the client gets 32, the server an error for each of the others",
        "a result with a hundred questions is an error, and the client is asked nothing",
      ]),
      ...proofs("test/gateway/parties.test.ts", [
        "a call that would need one more is refused, and served when there is room",
      ]),
      ...proofs("test/unit/core/session/journal.test.ts", [
        "remembers the last of the sessions that ended, not all there ever were",
      ]),
    ],
  },
  {
    id: "M6",
    what: "one token takes all sessions, all places and all open questions",
    tests: proofs("test/gateway/fairness.test.ts", [
      "opens sessions until it is refused, and another still gets in",
      "lets calls wait for input until it is refused, and another's still may",
      "clients %s: another one's calls are answered at once (B4)",
    ]),
  },
  {
    id: "M7",
    what: "retry: 0 of a server makes the gateway reconnect forever",
    tests: proofs("test/unit/mcp/links/streamable-http.test.ts", [
      "and breaks every answer off is asked for the rest at growing pauses",
      "and ends the standing stream at once is asked for it at growing pauses",
    ]),
  },
  {
    id: "M8",
    what: "a revoked token keeps its open streams",
    tests: proofs("test/gateway/life/revoked.test.ts", [
      "streams and sessions of a removed token end; those of another go on",
      "when tokens are asked for from now on, what was open without one ends",
    ]),
  },
  {
    id: "M9",
    what: "escape sequences of a server reach the terminal",
    tests: proofs("test/cli/escapes.slow.ts", [
      "through pipes",
      "as JSON it is the same value",
      "on a terminal",
      "in the readable log",
    ]),
  },
  {
    id: "M10",
    what: "one request or one list costs seconds of CPU in one turn",
    tests: [
      ...proofs("test/gateway/meta-tools/errors.test.ts", ["a query of megabytes is refused, with how long it may be"]),
      ...proofs("test/unit/upstream/catalog/match-budget.test.ts", [
        "of up to 8 kB is matched, a longer one is not, in every form",
      ]),
      ...proofs("test/gateway/exposure.test.ts", [
        "many new tools are taken in slice by slice",
        "a server that never stops changing its list does not hold up a search",
      ]),
      ...proofs("test/unit/upstream/catalog/sync.test.ts", [
        "many at once are one fetch; the last state of the server counts",
        "with changes each time: the pauses stay short for a short list, and grow with a long one",
      ]),
    ],
  },
  {
    id: "M11",
    what: "limits are evaded by another name with each request",
    tests: proofs("test/gateway/fairness.test.ts", [
      "gives it no calls in a second of its own",
      "gives it no calls under way of its own",
    ]),
  },
  {
    id: "L1",
    what: "another server changes a server's names",
    tests: proofs("test/unit/upstream/catalog/stable-names.test.ts", [
      "the names of a server stay, %s URIs, repeated prefixes: %s",
      "no form of a server's name is found at another server, whichever servers are connected",
      "the shorter one's names that could be the longer one's carry a suffix, whether it has them or not",
    ]),
  },
  {
    id: "L2",
    what: "tools of a server that is starting are not found",
    tests: proofs("test/regression/calls-to-starting-servers.slow.ts", [
      "everything of the server is waited for, %s URIs",
      "a client without sessions, by call and by listening",
      "the server does not come up: unavailable",
    ]),
  },
  {
    id: "L3",
    what: "an ended session is alive again after a kill",
    tests: [
      ...proofs("test/regression/ended-sessions.test.ts", ["an end that was answered holds after kill -9"]),
      ...proofs("test/unit/core/session/journal.test.ts", ["says when an end is written"]),
    ],
  },
  {
    id: "L4",
    what: "the audit log leaks descriptors, loses lines silently, and grows",
    tests: proofs("test/regression/audit-on-a-bad-disk.test.ts", [
      "a full disk costs no descriptor and no line that can wait",
      "lines that cannot wait are counted, and said once",
      "lines that wait in vain until the end are counted as lost",
      "what a client calls itself, its methods and what it asks for are cut",
      "a file that is full is renamed, of those some are kept, and nobody else reads them",
    ]),
  },
  {
    id: "L5",
    what: "a server writes long or forged lines into the log",
    tests: proofs("test/regression/foreign-words-in-the-log.test.ts", [
      "%s is a short line of the log",
      "a server that refuses the handshake at length is not quoted at length",
      "in the readable format what follows a line break is set in",
    ]),
  },
  {
    id: "L6",
    what: "Host and Origin are not checked on every route",
    tests: [
      ...proofs("test/gateway/http/cors.test.ts", ["a foreign Host or Origin is refused on %s"]),
      ...proofs("test/gateway/http/guard.test.ts", ["on loopback, %s is %i"]),
    ],
  },
  {
    id: "L7",
    what: "gateway.allowedOrigins has no effect in a browser",
    tests: proofs("test/gateway/http/cors.test.ts", [
      "a preflight of an allowed origin on %s is answered without a token",
      "on %s other origins are told nothing, not even local ones",
      "to a page of an allowed origin say so: handshake, stream, end, stateless, refusals, API",
    ]),
  },
  {
    id: "L8",
    what: "answers that nobody reads are held too long and too many",
    tests: [
      ...proofs("test/gateway/http/unread.test.ts", ["little by little of %s, for longer than the limit"]),
      ...proofs("test/gateway/http/unread.test.ts", ["nothing is read: the limit counts once"]),
    ],
  },
  {
    id: "L9",
    what: "a method without a slash is forwarded as another one",
    tests: proofs("test/unit/core/routing/extension.test.ts", [
      "a method belongs to the servers that declared its extension",
    ]),
  },
  {
    id: "L10",
    what: "a server's error message carries its key to the client",
    tests: proofs("test/gateway/masked-errors.test.ts", [
      "the message and the data are masked and otherwise as they came; a result is the server's own affair",
      "what is left is JSON, wherever the secret stands",
    ]),
  },
  {
    id: "L11",
    what: "weak tokens and unencrypted secrets pass without a word, and there is no TLS",
    tests: [
      { file: "test/unit/config/golden.test.ts", title: "%s", of: "weak-secrets" },
      ...proofs("test/gateway/http/tls.test.ts", [
        "clients that trust the certificate are served, others and those without encryption are not",
      ]),
    ],
  },
  {
    id: "A-H1",
    what: "a second spelling of a member names another target than the policy judged",
    tests: proofs("test/gateway/policy/readers.test.ts", [
      "A-H1: the token for progress",
      "A-H1: call_tool does not take another spelling of the tool's name either",
    ]),
  },
  {
    id: "A-H2",
    what: "another spelling of a URI passes a profile",
    tests: proofs("test/gateway/profiles/uri-spellings.test.ts", [
      "no spelling of the secret reaches it for a client that is %s",
      "no generated spelling of the secret reaches it",
    ]),
  },
  {
    id: "A-H3",
    what: "a server has the client secret sent to an issuer of its choice",
    tests: proofs("test/gateway/unattended.test.ts", [
      "A-H3: a server that names another issuer than the config gets no secret sent there",
    ]),
  },
  {
    id: "A-H5",
    what: "the approver does not see what runs",
    tests: proofs("test/gateway/approvals/shown.test.ts", [
      "the API and the webhook show the text that the server gets, without the secrets in it",
      "the user of a trusted client sees the same text, and how much of it is cut",
    ]),
  },
  {
    id: "A-H6",
    what: "an enforced lock lists text that nobody approved",
    tests: proofs("test/unit/upstream/lock/mutations.test.ts", [
      "lists no text, value or demand that nobody approved, wherever a server puts it",
    ]),
  },
  {
    id: "A-H7",
    what: "a second principal continues a call with the state of the first",
    tests: proofs("test/matrix/input.test.ts", [
      "is refused for another principal, endpoint, tool, server or arguments, and the server hears nothing",
      "is refused if it is guessed, the server's own, altered, cut, or of another form",
    ]),
  },
  {
    id: "A-M1",
    what: "results of tasks behind an approval are not masked",
    tests: proofs("test/gateway/approvals/task-follow.test.ts", [
      "states, list and result of the task are masked and shaped like those of a call (A-M1)",
    ]),
  },
  {
    id: "A-M2",
    what: "a secret passes in another spelling of JSON",
    tests: [
      ...proofs("test/unit/observe/telemetry/masker.test.ts", [
        "hides a secret however JSON spells it, down to JSON in a string in JSON in a string",
      ]),
      ...proofs("test/gateway/masked-errors.test.ts", [
        "the key is hidden in errors, kept calls and the log if the server escapes it as .NET and PHP do (A-M2)",
      ]),
    ],
  },
  {
    id: "A-M4",
    what: "subscriptions and completion pass without the approval",
    tests: proofs("test/gateway/approvals/not-calls.test.ts", [
      "a subscription to a resource that must be asked about is refused, and its server gets nothing",
      "completion for a prompt, template or resource that must be asked about is refused",
    ]),
  },
  {
    id: "A-M5",
    what: "/metrics shows every client all servers and callers",
    tests: proofs("test/gateway/metrics.test.ts", [
      "A-M5: a client's token shows only the servers that it may see, and no callers",
    ]),
  },
  {
    id: "A-M6",
    what: "the login page names servers that a profile hides",
    tests: proofs("test/gateway/connect.test.ts", ["A-M6: the page knows only the servers that the principal may see"]),
  },
  {
    id: "A-M11",
    what: "a tool that was taken away while its call waited runs",
    tests: proofs("test/gateway/approvals/once.test.ts", [
      "a tool that a new config hides",
      "a tool that the lock hides, because its server describes it in another way",
    ]),
  },
  {
    id: "A-M12",
    what: "one approval runs several calls",
    tests: proofs("test/gateway/approvals/once.test.ts", [
      "a call whose server wants input has used its approval: the same call is a new question",
      "a call goes on with the input that its server wanted, once, without another question",
    ]),
  },
  {
    id: "A-L8",
    what: "members that nobody was shown ride on a grant",
    tests: proofs("test/gateway/approvals/attacks.test.ts", [
      "A-L8: a member of the params that nobody is shown does not ride on a grant",
    ]),
  },
  {
    id: "B1",
    what: "pipelined requests shift the answers of a connection",
    tests: proofs("test/gateway/http/pipelining.test.ts", [
      "a page that is piped is not cut by the 100 Continue of the next request (B1)",
      "a request for a tunnel is refused after the answer to the call before it (B1b)",
    ]),
  },
  {
    id: "B2",
    what: "cut connections leak budgets, sessions and hand-overs",
    tests: proofs("test/gateway/http/pipelining.test.ts", [
      "large requests behind a call on connections that are cut give back their budget (B2)",
      "streams that queue behind a call give back their sessions when the connection is cut (B2)",
    ]),
  },
  {
    id: "B3",
    what: "a graceful stop ends a stream without its answer",
    tests: proofs("test/gateway/life/graceful-stop.test.ts", [
      "a request that arrives after the stop began is refused, and the call before it is answered (B3)",
    ]),
  },
  {
    id: "B5",
    what: "a full disk voids all approvals",
    tests: proofs("test/unit/lib/structures/line-file.test.ts", [
      "B5: approvals are kept when the disk takes half a line",
      "B5: a changed line is still found out",
    ]),
  },
  {
    id: "B8",
    what: "an ended session is valid again after a restart",
    tests: proofs("test/gateway/life/restart.test.ts", [
      "B8: takes up no session that ended, however many others ended after it",
    ]),
  },
];
