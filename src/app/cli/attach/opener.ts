/**
 * Finds the gateway for a pipe, again after each loss. It is the running one of the config, else
 * the one at the config's address if it has that config, else a new one in the background.
 */
import { configKey } from "../../../config/config-key.ts";
import { readRecord } from "../gateway/gateway-record.ts";
import { aloneFor, startGateway } from "./start-gateway.ts";
import type { AttachTarget } from "./target.ts";
import { NoTunnel, openTunnel, type Tunnel } from "./tunnel.ts";

/** Ten minutes outlast a client that is restarted, and a person who thinks. */
const STOP_WHEN_IDLE = "10";

export interface OpenerOptions {
  readonly profile: string | undefined;
  readonly server: string | undefined;
  readonly stopWhenIdle: string | undefined;
}

export interface Opener {
  /** Whether a client started the gateway of the last tunnel. */
  readonly isBackground: boolean;
  /** @throws NoTunnel */
  open(mayStart: boolean): Promise<Tunnel>;
}

export function createOpener(target: AttachTarget, options: OpenerOptions): Opener {
  const { profile, server, stopWhenIdle = STOP_WHEN_IDLE } = options;
  const { url, token, config, isFound, isNamed } = target;
  let isBackground = false;
  const at = (address: string): Promise<Tunnel> => openTunnel({ url: address, token, profile, server });

  /** Another gateway may have the config's address: only without a config will any do. */
  async function running(): Promise<Tunnel> {
    const record = isNamed ? undefined : readRecord(config, process.env);
    isBackground = record?.isBackground ?? false;
    if (record && record.url !== url) {
      const tunnel = await at(record.url).catch(unlessRefused);
      if (tunnel) return tunnel;
    }
    const tunnel = await at(url);
    if (isNamed || config === undefined || tunnel.configKey === configKey(config)) return tunnel;
    tunnel.socket.destroy();
    throw new NoTunnel("foreign", `the gateway at ${url} runs another config than ${config}`);
  }

  return {
    get isBackground() {
      return isBackground;
    },
    async open(mayStart) {
      try {
        return await running();
      } catch (error) {
        unlessRefused(error);
        if (!mayStart || isNamed) throw error;
      }
      return aloneFor(config, async () => {
        const tunnel = await running().catch(unlessRefused);
        if (tunnel) return tunnel;
        const started = await startGateway({ config, isFound, stopWhenIdle });
        isBackground = true;
        return at(started.url);
      });
    },
  };
}

/** Goes on after a failure that another gateway mends. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NoTunnel) || error.why === "refused") throw error;
}
