/**
 * The side effects of actions: calls to the gateway, the clipboard, quitting.
 *
 * An effect depends on an action and the states before and after it. Invariant: leaving a running
 * call cancels it, and its late answer changes nothing.
 */
import { adminRoutes } from "../admin/routes.ts";
import { strip } from "../text/clean.ts";
import type { AdminClient } from "./client.ts";
import { resultText } from "./content/result.ts";
import type { Action } from "./state/action.ts";
import { checkForm } from "./state/form.ts";
import type { State } from "./state/model.ts";
import { selectedItem } from "./state/select.ts";
import type { Store } from "./store.ts";

export interface Effects {
  /** Runs an action: first the state, then its effects. */
  perform(action: Action): void;
  close(): void;
}

export interface EffectsOptions {
  readonly client: AdminClient;
  readonly store: Store;
  readonly copy: (text: string) => void;
  readonly redraw: () => void;
  readonly quit: () => void;
}

const verbs = {
  restart: adminRoutes.restartServer,
  enable: adminRoutes.enableServer,
  disable: adminRoutes.disableServer,
};
const past = { restart: "Restarted", enable: "Enabled", disable: "Disabled" };

export function createEffects({ client, store, copy, redraw, quit }: EffectsOptions): Effects {
  let call: AbortController | undefined;

  const attempt = async (work: () => Promise<string>): Promise<void> => {
    try {
      store.dispatch({ type: "notice", text: await work(), tone: "good" });
    } catch (error) {
      store.dispatch({ type: "notice", text: messageOf(error), tone: "bad" });
    }
  };

  const callTool = async (tool: string, values: Record<string, unknown>): Promise<void> => {
    const own = new AbortController();
    call = own;
    const started = performance.now();
    const done = (failed: boolean, text: string): void => {
      if (own.signal.aborted) return;
      call = undefined;
      store.dispatch({ type: "call-done", tool, failed, ms: performance.now() - started, text });
    };
    try {
      const body = { name: tool, arguments: values };
      const { result } = await client.request(adminRoutes.callTool, { body, signal: own.signal });
      done(result.isError === true, resultText(result));
    } catch (error) {
      done(true, messageOf(error));
    }
  };

  const followCall = (before: State, after: State): void => {
    const was = runningTool(before);
    const is = runningTool(after);
    if (was !== undefined && is === undefined) call?.abort();
    if (was === undefined && is !== undefined && after.mode.name === "call") {
      const checked = checkForm(after.mode.form);
      if (checked.ok) void callTool(is, checked.arguments);
    }
  };

  return {
    perform(action) {
      const before = store.state();
      store.dispatch(action);
      followCall(before, store.state());
      switch (action.type) {
        case "answer": {
          if (before.mode.name !== "confirm" || !action.yes) return;
          const { verb, serverId } = before.mode.pending;
          void attempt(async () => {
            const server = await client.request(verbs[verb], { params: { id: serverId } });
            store.push({ type: "server", data: { id: serverId, server } });
            store.flush();
            return `${past[verb]} ${serverId}`;
          });
          return;
        }
        case "reload":
          void attempt(async () => {
            const { added, removed, changed } = await client.request(adminRoutes.reload, { body: {} });
            return `Config reloaded: ${added.length} added, ${removed.length} removed, ${changed.length} changed`;
          });
          return;
        case "copy": {
          const text = copyText(before);
          if (text === undefined) return;
          copy(text);
          store.dispatch({
            type: "notice",
            text: `Copied ${text.length > 60 ? `${text.length} characters` : text}`,
            tone: "good",
          });
          return;
        }
        case "redraw":
          redraw();
          return;
        case "quit":
          quit();
      }
    },
    close() {
      call?.abort();
    },
  };
}

function runningTool(state: State): string | undefined {
  return state.mode.name === "call" && state.mode.form.stage.name === "running" ? state.mode.form.tool : undefined;
}

/**
 * Returns the text for the copy key. Names become one line without control characters, safe to
 * paste into a shell.
 */
function copyText(state: State): string | undefined {
  if (state.mode.name === "call") return state.mode.form.stage.name === "done" ? state.mode.form.stage.text : undefined;
  const selected = selectedItem(state);
  switch (selected?.list) {
    case undefined:
      return undefined;
    case "servers":
      return strip(selected.item.id);
    case "tools":
    case "prompts":
      return strip(selected.item.name);
    case "resources":
      return strip(selected.item.uri);
    case "templates":
      return strip(selected.item.uriTemplate);
    case "logs":
      return strip(selected.item.msg);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
