/** The API of a running gateway, for commands that follow what happens there. */
import { type AdminClient, AdminClientError, createAdminClient } from "../../../admin/tui/client.ts";
import { findGateway, type GatewayOptions } from "../gateway/find-gateway.ts";
import { RefusedRequest } from "../gateway/refused-request.ts";
import { unreachable } from "../gateway/unreachable.ts";

export async function withAdmin<T>(
  options: GatewayOptions,
  use: (admin: AdminClient, hasToken: boolean) => Promise<T>,
): Promise<T> {
  const { adminUrl, token, tokenFrom } = await findGateway(options);
  try {
    return await use(createAdminClient({ url: adminUrl, token }), token !== undefined);
  } catch (error) {
    if (!(error instanceof AdminClientError)) throw error;
    if (error.code === "UNAUTHORIZED") {
      throw new Error(
        token === undefined
          ? "the gateway asks for a token: give --token or set GOBLIN_TOKEN"
          : `the token was refused: check ${tokenFrom}`,
      );
    }
    const isNetwork = /^(E[A-Z]+|UND_ERR_.*|ERR_SSL.*|HPE_.*|NETWORK)$/.test(error.code);
    if (isNetwork) throw new Error(unreachable({ url: adminUrl, named: options.url !== undefined }, error.cause));
    throw new RefusedRequest({ code: error.code, message: error.message });
  }
}
