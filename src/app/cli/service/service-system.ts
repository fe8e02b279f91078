/** The service manager of a system, as the commands use it. */
import type { Machine } from "../../clients/client.ts";
import type { Definition } from "./definition.ts";
import { launchdManager } from "./launchd.ts";
import type { RunTool } from "./run-tool.ts";
import { ServiceError } from "./service-error.ts";
import { systemdManager } from "./systemd.ts";
import { windowsManager } from "./windows.ts";

export type ServiceState = "running" | "starting" | "stopped" | "failed";

export interface Manager {
  /** The file that defines the service. */
  readonly file: string;
  /** How to see the log. */
  readonly logs: string;
  /** What users should know once it is installed. */
  readonly hints: readonly string[];
  bytesOf(text: string): Buffer;
  textFor(definition: Definition): string;
  /**
   * Returns the environment that a service gets; undefined if it gets the user's own.
   * @throws ServiceError if there is no service manager
   */
  environment(): Promise<Readonly<Record<string, string>> | undefined>;
  /** Makes the file known, and starts the service; again if it runs. @throws ServiceError */
  start(): Promise<void>;
  /** Stops the service and forgets it. The file is still there. @throws ServiceError */
  stop(): Promise<void>;
  /** Called when the file is gone. */
  forget(): Promise<void>;
  state(): Promise<ServiceState>;
}

export interface ManagerOptions {
  readonly machine: Machine;
  readonly run: RunTool;
  /** The folder for what must survive. */
  readonly stateFolder: string;
  /** Whether this machine is a container. */
  readonly isContainer: boolean;
  readonly userId: number;
}

/** @throws ServiceError if the system has none that Goblin knows */
export function managerOf(options: ManagerOptions): Manager {
  const { platform } = options.machine;
  if (platform === "linux") return systemdManager(options);
  if (platform === "darwin") return launchdManager(options);
  if (platform === "win32") return windowsManager(options);
  throw new ServiceError(
    `Goblin knows no service manager of ${platform}: have your own run "goblin serve --config <file>" ` +
      "and restart it when it fails",
  );
}
