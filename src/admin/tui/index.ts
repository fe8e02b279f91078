/**
 * The terminal dashboard: attaches to a running gateway through its admin API.
 *
 * Invariant: `runTui` restores the terminal before it resolves with an exit code, and leaves no
 * timer, connection or listener behind. A signal ends only the dashboard; the caller ends the rest
 * of the process.
 */

import { cleanLines } from "../../lib/text/clean.ts";
import { mount } from "./app.ts";
import { createAdminClient } from "./client.ts";
import { createEffects } from "./effects.ts";
import { startFeed } from "./feed.ts";
import { clearImages, drawImage, imageProtocol } from "./images.ts";
import { mouseOff, mouseOn } from "./mouse.ts";
import { createScreen } from "./screen.ts";
import { initialState } from "./state/model.ts";
import { themeOf } from "./state/theme.ts";
import { createStore } from "./store.ts";
import { copyToClipboard, takeOver } from "./terminal.ts";

export interface TuiOptions {
  /** Any URL on the gateway; its path is ignored. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Opens a browser; resolves to false if there is none. */
  readonly openUrl?: ((url: string) => Promise<boolean>) | undefined;
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout?: NodeJS.WriteStream;
  readonly stderr?: NodeJS.WritableStream;
}

export async function runTui(options: TuiOptions): Promise<number> {
  const { stdin = process.stdin, stdout = process.stdout, stderr = process.stderr } = options;
  if (!stdin.isTTY || !stdout.isTTY) {
    stderr.write("The dashboard needs a terminal: standard input and output must both be a terminal.\n");
    return 1;
  }
  const client = createAdminClient({ url: options.url, token: options.token });
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const store = createStore(
    initialState({ url: client.url, now: Date.now(), size: size(), theme: themeOf(process.env) }),
  );
  const screen = createScreen(stdout);

  return new Promise((resolve) => {
    // Closers run in reverse order. A crash can come at any point of the start.
    const closers: (() => void)[] = [];
    const finish = (code: number, error?: unknown): void => {
      // First, in case a later step fails: no frame may land on the user's screen.
      screen.close();
      takeover.restore();
      for (const close of closers.splice(0).reverse()) close();
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
        // The process state is unknown after an uncaught exception, so it must not continue.
        process.exit(1);
      },
      onSignalled: finish,
    });
    try {
      const quit = (): void => finish(0);
      const copy = (text: string): void => copyToClipboard(stdout, text);
      const protocol = imageProtocol(process.env);
      const effects = createEffects({
        client,
        store,
        copy,
        redraw: screen.repaint,
        quit,
        openUrl: options.openUrl,
        showImage: (picture) => {
          const place = { row: 4, rows: Math.max(4, size().rows - 8) };
          const drawn = protocol && drawImage(protocol, picture, place);
          // After the frame without the panel.
          if (drawn !== undefined) setTimeout(() => stdout.write(drawn), 50);
          return drawn !== undefined;
        },
        hideImage: () => {
          if (protocol !== undefined) stdout.write(clearImages(protocol));
          screen.repaint();
        },
        setMouse: (on) => void stdout.write(on ? mouseOn : mouseOff),
      });
      const clock = setInterval(() => store.dispatch({ type: "tick", now: Date.now() }), 1000);
      closers.push(store.close, effects.close, () => clearInterval(clock));
      closers.push(startFeed({ client, store }).close);
      stdout.on("resize", onResize);
      closers.push(() => stdout.off("resize", onResize));
      const app = mount({ store, effects, screen, stdin, onError: (error) => finish(1, error) });
      closers.push(app.unmount);
    } catch (error) {
      finish(1, error);
    }
  });
}

function report(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `The dashboard failed:\n${cleanLines(text).join("\n")}`;
}
