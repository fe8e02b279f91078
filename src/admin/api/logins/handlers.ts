/** The logins at servers through the API: their list, new ones, and their end. */
import { loginRows, shownOwner } from "../../../auth/login/book/login-rows.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { ApiFailure, apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { LoginRow, LogoutRequest, LogoutResult } from "./schema.ts";

interface Asked {
  readonly params: Record<string, unknown>;
  readonly body: unknown;
  readonly principal: Principal;
}

type Parts = Pick<AdminParts, "logins" | "connect" | "config" | "servers" | "logs" | "log">;

export function loginHandlers({ logins, connect, config, servers, logs, log }: Parts) {
  const targets = () =>
    config.current.servers.flatMap(({ id, transport, auth, enabled }) =>
      auth && enabled && transport.kind !== "stdio" ? [{ id, url: transport.url, auth }] : [],
    );
  const known = (id: string): string => {
    if (config.current.servers.some((server) => server.id === id)) return id;
    throw apiFailure("SERVER_NOT_FOUND", `There is no server "${id}"`);
  };
  const using = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ApiFailure) throw error;
      throw apiFailure("LOGINS_UNAVAILABLE", messageOf(error));
    }
  };
  return {
    listLogins: () =>
      using(async () => {
        const rows = logins ? loginRows(targets(), await logins.book()) : [];
        const items = rows.map(({ server, principal, isPersonal, isUnattended, isRenewed, ...row }): LoginRow => {
          const who = principal === null ? null : shownOwner(principal);
          const serverState = servers.status(server)?.state ?? "down";
          const kind = { personal: isPersonal, unattended: isUnattended, renewed: isRenewed };
          const lists = { scopes: [...row.scopes], wanted: [...row.wanted] };
          return { ...row, ...lists, ...kind, serverId: server, owner: principal, who, serverState };
        });
        return { items, total: items.length };
      }),
    loginServer: async ({ params, principal }: Asked) => {
      const id = known(String(params["id"]));
      const url = await connect?.link(principal, id);
      if (url !== undefined) return { url };
      throw apiFailure("NO_LOGIN", `Server "${id}" has no login that a person could make here: see goblin auth`);
    },
    logoutServer: ({ params, body, principal }: Asked) =>
      using(async (): Promise<LogoutResult> => {
        const id = known(String(params["id"]));
        const { owner } = body as LogoutRequest;
        const target = targets().find((one) => one.id === id);
        if (!logins || !target) throw apiFailure("NO_LOGIN", `Server "${id}" has no logins`);
        const ended = await logins.end(target, owner === null ? "" : owner);
        log.info({ server: id, ended: ended.length, by: principal.name }, "Logged out of a server");
        const problems = ended.flatMap(({ issuer, problem }) =>
          problem === undefined ? [] : [logs.masker.text(`${issuer} still knows the login: ${problem}`)],
        );
        return { ended: ended.length, problems };
      }),
  };
}
