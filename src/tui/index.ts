/**
 * The terminal dashboard: attaches to a running gateway through its admin API.
 *
 * What must always hold: `runTui` resolves with an exit code after the terminal is as it was before, and leaves no
 * timer, connection or listener behind; a signal ends the dashboard, what else the process does is its caller's to end.
 */
import { createAdminClient } from "./client.ts";
import { createEffects } from "./effects.ts";
import { startFeed } from "./feed.ts";
import { createScreen } from "./screen.ts";
import { initialState } from "./state/model.ts";
import { createStore } from "./store.ts";
import { copyToClipboard, takeOver } from "./terminal.ts";
import { cleanLines } from "./text/clean.ts";

export interface TuiOptions {
  /** The gateway's URL; any path on it will do. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout?: NodeJS.WriteStream;
  readonly stderr?: NodeJS.WritableStream;
}

export async function runTui(options: TuiOptions): Promise<number> {
  const { stdin = process.stdin, stdout = process.stdout, stderr = process.stderr } = options;
  if (!stdin.isTTY || !stdout.isTTY) {
    stderr.write("The dashboard needs a terminal: standard input and output must both be one.\n");
    return 1;
  }
  const client = createAdminClient({ url: options.url, token: options.token });
  const { mount } = await importApp();
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const store = createStore(initialState({ url: client.url, now: Date.now(), size: size() }));
  const screen = createScreen(stdout);

  return new Promise((resolve) => {
    let over = false;
    const finish = (code: number, error?: unknown): void => {
      if (over) return;
      over = true;
      clearInterval(clock);
      stdout.off("resize", onResize);
      feed.close();
      effects.close();
      store.close();
      screen.close();
      takeover.restore();
      app.unmount();
      if (error !== undefined) stderr.write(`${report(error)}\n`);
      resolve(code);
    };
    const onResize = (): void => {
      screen.forget();
      store.dispatch({ type: "resize", size: size() });
    };
    const takeover = takeOver({
      terminal: stdout,
      onCrash(error) {
        finish(1, error);
        // The program may have been half way through anything; it does not go on after an exception.
        process.exit(1);
      },
      onSignalled: finish,
    });
    const effects = createEffects({
      client,
      store,
      copy: (text) => copyToClipboard(stdout, text),
      redraw: () => screen.repaint(),
      quit: () => finish(0),
    });
    const clock = setInterval(() => store.dispatch({ type: "tick", now: Date.now() }), 1000);
    const feed = startFeed({ client, store });
    stdout.on("resize", onResize);
    const app = mount({ store, effects, screen, stdin });
    app.done.then(
      () => finish(0),
      (error: unknown) => finish(1, error),
    );
  });
}

/**
 * React chooses its build by NODE_ENV when it is loaded; the development build keeps a measurement of every frame for
 * ever. The variable is put back, because backends that are started later inherit it.
 */
async function importApp(): Promise<typeof import("./app.tsx")> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    return await import("./app.tsx");
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

function report(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `The dashboard failed:\n${cleanLines(text).join("\n")}`;
}
