/**
 * The side effects of actions: calls to the gateway, the clipboard, files, pictures, quitting.
 *
 * An effect depends on an action and the states before and after it.
 */

import { strip } from "../../lib/text/clean.ts";
import { adminRoutes } from "../api/routes.ts";
import type { AdminClient } from "./client.ts";
import type { Block } from "./content/blocks.ts";
import { blockAtCursor, documentWidth } from "./content/document.ts";
import { codeBlocks, grantBlocks } from "./content/pairing.ts";
import { blocksText } from "./content/result-text.ts";
import type { Picture } from "./images.ts";
import { createLiveEffects } from "./live-effects.ts";
import { saveBlock } from "./save-file.ts";
import type { Action } from "./state/action.ts";
import { openQuestion, openViewer } from "./state/calling.ts";
import { layoutOf } from "./state/layout.ts";
import type { State } from "./state/model.ts";
import { paletteEntries } from "./state/palette.ts";
import { logText, selectedItem } from "./state/select.ts";
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
  /** Shows a picture on the terminal; returns whether it can. */
  readonly showImage?: (picture: Picture) => boolean;
  readonly hideImage?: () => void;
  readonly setMouse?: (on: boolean) => void;
  /** Opens a browser; resolves to false if there is none. */
  readonly openUrl?: ((url: string) => Promise<boolean>) | undefined;
}

const verbs = {
  restart: adminRoutes.restartServer,
  enable: adminRoutes.enableServer,
  disable: adminRoutes.disableServer,
};
const past = { restart: "Restarted", enable: "Enabled", disable: "Disabled" };

export function createEffects(options: EffectsOptions): Effects {
  const { client, store, copy } = options;
  const notify = (text: string, tone: "good" | "bad"): void => store.dispatch({ type: "notice", text, tone });
  const fail = (error: unknown): void => notify(error instanceof Error ? error.message : String(error), "bad");
  const live = createLiveEffects({ client, store, fail });

  const attempt = (work: () => Promise<string>): void => {
    work().then((text) => notify(text, "good"), fail);
  };

  const show = (title: string, read: () => Promise<Block[]>): void => {
    read().then((blocks) => store.dispatch({ type: "view", title, blocks }), fail);
  };

  const confirmed = (state: State): void => {
    if (state.mode.name !== "confirm") return;
    const { verb, serverId } = state.mode.pending;
    attempt(async () => {
      const server = await client.request(verbs[verb], { params: { id: serverId } });
      store.push({ type: "server", data: { id: serverId, server } });
      store.flush();
      return `${past[verb]} ${serverId}`;
    });
  };

  const logIn = (state: State): void => {
    const selected = selectedItem(state);
    if (selected?.list !== "servers") return;
    const { id } = selected.item;
    attempt(async () => {
      const { url } = await client.request(adminRoutes.loginServer, { params: { id } });
      if (await options.openUrl?.(url)) return `Log in to ${id} in the browser that opened`;
      copy(url);
      return `Copied the link to log in to ${id}: open it in a browser`;
    });
  };

  /** The digest of what was shown goes along: nothing else can be allowed. */
  const answerApproval = ({ mode, approvals }: State, how: "once" | "hour" | "session" | "deny"): void => {
    const row = mode.name === "approval" ? approvals.find(({ id }) => id === mode.id) : undefined;
    if (row === undefined) return;
    const { id, shownName, digest: expect } = row;
    attempt(async () => {
      if (how === "deny") {
        await client.request(adminRoutes.denyApproval, { params: { id }, body: { expect } });
        return `Denied ${shownName}`;
      }
      await client.request(adminRoutes.allowApproval, { params: { id }, body: { for: how, expect } });
      return `Allowed ${shownName} ${how === "once" ? "once" : `for ${how === "hour" ? "an hour" : "its session"}`}`;
    });
  };

  const showLock = async (): Promise<void> => {
    store.dispatch({ type: "lock-shown", lock: await client.request(adminRoutes.getLock, {}) });
  };

  /** The digest of what was shown goes along: nothing else can be approved. */
  const approveShown = ({ mode }: State): void => {
    const server = mode.name === "lock" ? mode.servers[mode.index] : undefined;
    if (server === undefined) return;
    const { id, current: expect } = server;
    const params = { id };
    attempt(async () => {
      if (server.state === "gone") await client.request(adminRoutes.removeLockedServer, { params });
      else if (expect === null) throw new Error(`${id} has not been listed: there is nothing to approve`);
      else await client.request(adminRoutes.approveServer, { params, body: { expect } });
      await showLock();
      return server.state === "gone" ? `Removed ${id} from the lock file` : `Approved ${id}`;
    });
  };

  /** Lets a new version take over that is shown, without an approval. */
  const switchToShown = ({ mode }: State): void => {
    const server = mode.name === "lock" ? mode.servers[mode.index] : undefined;
    if (server?.state !== "upgrade") return notify("There is no new version to switch to", "bad");
    const { id, current: expect } = server;
    attempt(async () => {
      if (expect === null) throw new Error(`The new version of ${id} does not run: there is nothing to switch to`);
      await client.request(adminRoutes.switchServer, { params: { id }, body: { expect } });
      await showLock();
      return `Switched ${id} to its new version`;
    });
  };

  const copySelected = (state: State): void => {
    const text = copyText(state);
    if (text === undefined) return;
    copy(text);
    notify(`Copied ${text.length > 60 ? `${text.length} characters` : text}`, "good");
  };

  const save = (state: State): void => {
    const block = shownBlock(state);
    if (block === undefined) return;
    try {
      notify(`Saved ${saveBlock(block, nameOf(state) ?? "result")}`, "good");
    } catch (error) {
      fail(error);
    }
  };

  const showImage = (state: State): void => {
    const block = shownBlock(state);
    if (block?.kind !== "media") return notify("There is no picture at the cursor", "bad");
    store.dispatch({ type: "image", shown: true });
    if (options.showImage?.(block)) return;
    store.dispatch({ type: "image", shown: false });
    notify("This terminal cannot show it: w saves it to a file", "bad");
  };

  const watch = (state: State): void => {
    const uri = watchable(state);
    if (uri !== undefined) live.toggleWatch(uri);
  };

  const perform = (action: Action): void => {
    const before = store.state();
    store.dispatch(action);
    const after = store.state();
    live.follow(before, after);
    if (before.mode.name === "image" && after.mode.name !== "image") options.hideImage?.();
    switch (action.type) {
      case "answer":
        if (action.yes) confirmed(before);
        return;
      case "question-answer":
      case "question-next": {
        const asked = openQuestion(before);
        if (asked !== undefined && openQuestion(after)?.id !== asked.id) live.answer(asked, howOf(action, before));
        return;
      }
      case "palette-run":
        if (before.mode.name !== "palette") return;
        for (const one of paletteEntries(before, before.mode.query)[action.index ?? before.mode.index]?.actions ?? [])
          perform(one);
        return;
      case "log-in":
        return logIn(after);
      case "pair":
        return show("A code that lets a client in", async () => [
          ...codeBlocks(await client.request(adminRoutes.makePairingCode, { body: {} })),
          ...grantBlocks((await client.request(adminRoutes.listGrants, {})).items, Date.now()),
        ]);
      case "grants":
        return show("Clients that were let in", async () =>
          grantBlocks((await client.request(adminRoutes.listGrants, {})).items, Date.now()),
        );
      case "approval-answer":
        return answerApproval(before, action.how);
      case "lock":
        showLock().catch(fail);
        return;
      case "lock-approve":
        return approveShown(before);
      case "lock-switch":
        return switchToShown(before);
      case "reload":
        attempt(async () => {
          const { added, removed, changed } = await client.request(adminRoutes.reload, { body: {} });
          return `Config reloaded: ${added.length} added, ${removed.length} removed, ${changed.length} changed`;
        });
        return;
      case "copy":
        return copySelected(before);
      case "save":
        return save(before);
      case "show-image":
        return showImage(before);
      case "watch":
        return watch(before);
      case "mouse":
        options.setMouse?.(after.mouse);
        return;
      case "redraw":
        options.redraw();
        return;
      case "quit":
        options.quit();
    }
  };

  return { perform, close: live.close };
}

/** Enter on a button answers as the button says. */
function howOf(action: Action, before: State): "accept" | "decline" | "cancel" {
  if (action.type === "question-answer") return action.how;
  const form = openQuestion(before)?.form;
  return form !== undefined && form.focus > form.fields.length ? "decline" : "accept";
}

function shownBlock(state: State): Block | undefined {
  const viewer = openViewer(state);
  return viewer && blockAtCursor(viewer, documentWidth(layoutOf(state)));
}

function nameOf({ mode }: State): string | undefined {
  return mode.name === "call" ? mode.form.target.name : mode.name === "view" ? mode.title : undefined;
}

function watchable(state: State): string | undefined {
  const { mode } = state;
  if (mode.name === "call") return mode.form.target.kind === "resource" ? mode.form.target.name : undefined;
  const selected = selectedItem(state);
  return selected?.list === "resources" ? selected.item.uri : undefined;
}

/**
 * Returns the text for the copy key. Names become one line without control characters, safe to
 * paste into a shell.
 */
function copyText(state: State): string | undefined {
  const { mode } = state;
  const link = openQuestion(state)?.link;
  if (link !== undefined) return strip(link);
  const viewer = openViewer(state);
  if (viewer !== undefined) return blocksText(viewer.blocks);
  if (mode.name !== "browse") return undefined;
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
      return strip(logText(selected.item));
    case "calls":
      return strip(selected.item.requestId);
  }
}
