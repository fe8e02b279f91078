/** Describes in each request the client that it is made for, unless the client does so itself. */
import { memberText, prependMembers, setMember } from "../../../lib/json/json-text.ts";
import type { Call, Client } from "../../protocol/call.ts";
import {
  CLIENT_CAPABILITIES,
  CLIENT_INFO,
  LOG_LEVEL,
  metaOf,
  PROTOCOL_VERSION,
  TASKS,
} from "../../protocol/envelope.ts";

type About = Pick<Client, "info" | "capabilities" | "logLevel" | "hasSession">;

/** Stands for the gateway itself. */
const NOBODY: About = { info: {}, capabilities: {}, logLevel: undefined, hasSession: false };
/** Stands for the gateway when it listens for tasks, which takes the extension. */
const TASK_LISTENER: About = { ...NOBODY, capabilities: { extensions: { [TASKS]: {} } } };

export class Descriptions {
  readonly #version: string;
  readonly #clientInfo: Readonly<Record<string, unknown>>;
  /** A client's description does not change during its session. */
  readonly #known = new WeakMap<object, string>();

  /** `clientInfo`: the gateway's own. */
  constructor(version: string, clientInfo: Readonly<Record<string, unknown>>) {
    this.#version = version;
    this.#clientInfo = clientInfo;
  }

  /** Returns the params with the client's description and our own progress token in `_meta`. */
  add(params: string, id: number, call: Call | undefined): string {
    const token = call?.progressToken;
    const given = call && metaOf(call.params);
    const describesItself = given !== undefined && PROTOCOL_VERSION in given;
    if (describesItself && token === undefined) return params;
    const envelope = describesItself ? "" : this.#envelope(aboutOf(call, params));
    if (given === undefined) return setMember(params, "_meta", `{${envelope}}`);
    let meta = memberText(params, "_meta")!;
    if (token !== undefined) meta = setMember(meta, "progressToken", String(id));
    return setMember(params, "_meta", describesItself ? meta : prependMembers(meta, envelope));
  }

  /** Returns the `_meta` members that describe a client that does not describe itself. */
  #envelope(about: About): string {
    // A client with a session that set no level gets every message. Here it must be asked for.
    const level = about.logLevel ?? (about.hasSession ? "debug" : undefined);
    const logged = level && level !== "off" ? `,"${LOG_LEVEL}":"${level}"` : "";
    let known = this.#known.get(about);
    if (known === undefined) {
      const info = about.info["name"] === undefined ? this.#clientInfo : about.info;
      const capabilities = JSON.stringify(about.capabilities);
      known = `"${PROTOCOL_VERSION}":"${this.#version}","${CLIENT_CAPABILITIES}":${capabilities},"${CLIENT_INFO}":${JSON.stringify(info)}`;
      this.#known.set(about, known);
    }
    return known + logged;
  }
}

/** Returns whom a request describes. Only our own listen requests name tasks. */
function aboutOf(call: Call | undefined, params: string): About {
  if (call) return call.client;
  return params.includes('"taskIds"') ? TASK_LISTENER : NOBODY;
}
