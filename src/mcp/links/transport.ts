/** How to reach a server: a program to start, or an address. */
export interface StdioTransport {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The entry's own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** A file with more variables, which is read when the program starts. */
  readonly envFile?: string;
  /** What is inherited from the gateway's environment; undefined is the usual. */
  readonly inheritEnv?: boolean | readonly string[];
  readonly cwd: string;
}

export interface RemoteTransport {
  /** "auto" tries http and falls back to sse. */
  readonly kind: "http" | "sse" | "auto";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ServerTransport = StdioTransport | RemoteTransport;
