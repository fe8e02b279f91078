/**
 * `goblin tokens`: shows the token cost of a gateway's tools by server, and the savings of a
 * shorter tool list.
 */
import { adminRoutes } from "../../../admin/api/routes.ts";
import { MODEL_API_NAME, type TokenReport } from "../../../upstream/catalog/token-report.ts";
import { type TargetOptions, withTarget } from "../gateway/target.ts";
import { type Column, formatTable, printJson } from "../terminal/table.ts";

export interface TokensOptions extends TargetOptions {
  readonly json?: boolean | undefined;
}

/** Server states by id. */
type States = ReadonlyMap<string, string>;

const HEAVIEST = 10;

export function tokens(options: TokensOptions): Promise<number> {
  return withTarget(options, async (target) => {
    const [report, { items }] = await Promise.all([
      target.request(adminRoutes.getTokens),
      target.request(adminRoutes.listServers),
    ]);
    const states: States = new Map(items.map(({ id, state }) => [id, state]));
    if (options.json) printJson(withStates(report, states));
    else console.log(tokenTable(report, states));
    return 0;
  });
}

function withStates(report: TokenReport, states: States) {
  const servers = report.servers.map((server) => ({ ...server, state: states.get(server.serverId) ?? "disabled" }));
  return { ...report, servers };
}

export function tokenTable(report: TokenReport, states: States): string {
  const { own, all, search, listed, mode } = report;
  const servers = [
    ...report.servers.map((server) => ({ ...server, state: states.get(server.serverId) ?? "disabled" })),
    { serverId: "(goblin)", state: "", ...own, listedTools: own.tools, listedTokens: own.tokens },
  ];
  const lists = [
    { name: "all", ...all },
    { name: "search", ...search },
    { name: `now (${mode})`, ...listed },
  ];
  return [
    formatTable(servers, [
      { title: "server", text: ({ serverId }) => serverId },
      { title: "state", text: ({ state }) => state },
      amount("tools", ({ tools }) => tools),
      amount("tokens", ({ tokens }) => tokens),
      amount("listed", ({ listedTools }) => listedTools),
      amount("tokens", ({ listedTokens }) => listedTokens),
    ]),
    formatTable(lists, [
      { title: "tool list", text: ({ name }) => name },
      amount("tools", ({ tools }) => tools),
      amount("tokens", ({ tokens }) => tokens),
    ]),
    formatTable(report.tools.slice(0, HEAVIEST), [
      { title: "heaviest tools", text: ({ name }) => name },
      amount("tokens", ({ tokens }) => tokens),
    ]),
    refusedTable(report),
  ].join("\n\n");
}

function refusedTable({ refusedNames }: TokenReport): string {
  if (refusedNames.length === 0) return `All names match ${MODEL_API_NAME.source}, as model APIs ask for.`;
  const title = `names that model APIs may refuse (they ask for ${MODEL_API_NAME.source})`;
  return formatTable(refusedNames, [{ title, text: ({ name }) => name }]);
}

function amount<Row>(title: string, of: (row: Row) => number): Column<Row> {
  return { title, text: (row) => of(row).toLocaleString("en-US"), align: "right" };
}
