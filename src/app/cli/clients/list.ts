/** `goblin clients`: which MCP clients are on this machine, and which are linked to the gateway. */
import { type ClientState, type GatewayEntry, stateOf } from "../../clients/linking.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { type LinkTarget, linkTo, namedClients, thisMachine } from "./machine.ts";

export interface ClientsOptions extends LinkTarget {
  readonly all?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const colours = { linked: "green", drifted: "yellow", unreadable: "red", found: undefined, missing: "dim" } as const;

const columns: Column<ClientState>[] = [
  { title: "CLIENT", text: ({ client }) => client.id },
  { title: "STATE", text: ({ state }) => state, colour: ({ state }) => colours[state] },
  { title: "SERVERS", text: ({ servers }) => String(servers.length), align: "right" },
  { title: "FILE", text: ({ file, reason }) => (reason === undefined ? file : `${file}: ${reason}`) },
];

export async function listClients(options: ClientsOptions): Promise<number> {
  const states = await clientStates((await linkTo(options)).all, options);
  if (options.json) {
    printJson(states.map(({ client, ...state }) => ({ client: client.id, title: client.title, ...state })));
  } else if (states.length === 0) console.log("No MCP client was found on this machine.");
  else printTable(states, columns);
  return 0;
}

/** Returns the clients on this machine, each file once; `all`: also those that are not there. */
export async function clientStates(
  links: readonly GatewayEntry[],
  { all }: Pick<ClientsOptions, "all"> = {},
): Promise<ClientState[]> {
  const states: ClientState[] = [];
  for (const client of namedClients([])) {
    for (const scope of ["user", "project"] as const) {
      const state = await stateOf(client, thisMachine(), { scope, links });
      if (!state || (state.state === "missing" && !(all && scope === "user"))) continue;
      if (!states.some(({ file }) => file === state.file)) states.push(state);
    }
  }
  return states;
}
