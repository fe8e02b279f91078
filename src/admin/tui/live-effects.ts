/**
 * The effects of calls that the dashboard makes: the call and its stream, answers to questions,
 * suggestions, what is fetched about the selected item, watched resources.
 *
 * Invariant: leaving a running call cancels it, and what arrives late changes nothing.
 */
import { randomUUID } from "node:crypto";
import { isRecord } from "../../lib/structures/record.ts";
import { expandTemplate, parseTemplate } from "../../lib/uri-template/template.ts";
import { adminRoutes } from "../api/routes.ts";
import { checkForm } from "../forms/form.ts";
import type { AdminClient } from "./client.ts";
import { resultBlocks, textBlock } from "./content/blocks.ts";
import type { CallForm } from "./state/call-form.ts";
import { layoutOf } from "./state/layout.ts";
import type { State } from "./state/model.ts";
import { selectedItem } from "./state/select.ts";
import type { Question } from "./state/stage.ts";
import type { Store } from "./store.ts";

/** What a person in front of the dashboard can answer. Sampling is shown, to be refused. */
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
const suggestMs = 150;
const aboutMs = 120;

export interface LiveEffects {
  /** Follows what an action changed. */
  follow(before: State, after: State): void;
  answer(question: Question, how: "accept" | "decline" | "cancel"): void;
  toggleWatch(uri: string): void;
  close(): void;
}

export interface LiveOptions {
  readonly client: AdminClient;
  readonly store: Store;
  readonly fail: (error: unknown) => void;
}

export function createLiveEffects({ client, store, fail }: LiveOptions): LiveEffects {
  const caller = randomUUID();
  let call: { readonly ending: AbortController; id: string } | undefined;
  const watches = new Map<string, AbortController>();
  let suggestTimer: NodeJS.Timeout | undefined;
  let aboutTimer: NodeJS.Timeout | undefined;
  let fetching: string | undefined;

  const run = async (form: CallForm): Promise<void> => {
    const own = { ending: new AbortController(), id: "" };
    call = own;
    const started = performance.now();
    let isDone = false;
    const done = (failed: boolean, blocks: ReturnType<typeof resultBlocks>): void => {
      if (own.ending.signal.aborted || isDone) return;
      isDone = true;
      call = undefined;
      store.dispatch({ type: "call-done", failed, ms: performance.now() - started, blocks });
    };
    try {
      const body = { ...requestOf(form), capabilities, caller };
      await client.follow(adminRoutes.startCall, {
        body,
        signal: own.ending.signal,
        onEvent: (event) => {
          if (own.ending.signal.aborted) return;
          if (event.type === "started") own.id = event.data.id;
          if (event.type === "result") done(event.data.result["isError"] === true, resultBlocks(event.data.result));
          else if (event.type === "error") done(true, [textBlock(event.data.message)]);
          else store.dispatch({ type: "live", event });
        },
      });
      done(true, [textBlock("The gateway ended the call without an answer")]);
    } catch (error) {
      done(true, [textBlock(error instanceof Error ? error.message : String(error))]);
    }
  };

  const suggest = (form: CallForm): void => {
    const field = form.fields[form.focus];
    clearTimeout(suggestTimer);
    if (field === undefined || !field.completes || field.suggestions.length > 0) return;
    const ref =
      form.target.kind === "prompt"
        ? { type: "ref/prompt", name: form.target.name }
        : { type: "ref/resource", uri: form.target.name };
    const params = { ref, argument: { name: field.name, value: field.text } };
    suggestTimer = setTimeout(() => {
      const onEvent = (event: { type: string; data: unknown }): void => {
        if (event.type !== "result" || !isRecord(event.data) || !isRecord(event.data["result"])) return;
        const { completion } = event.data["result"];
        const values = isRecord(completion) && Array.isArray(completion["values"]) ? completion["values"] : [];
        const texts = values.filter((value): value is string => typeof value === "string");
        store.dispatch({ type: "suggested", field: field.name, text: field.text, values: texts });
      };
      // A server that cannot suggest anything is no news.
      client
        .follow(adminRoutes.startCall, { body: { method: "completion/complete", params, caller }, onEvent })
        .catch(() => undefined);
    }, suggestMs);
  };

  /** Fetches what the details panel shows, a moment after the selection rests. */
  const fetchAbout = (state: State): void => {
    const wanted = wantedAbout(state);
    if (wanted === undefined || state.link.status === "away") return;
    const { key, version, list, id } = wanted;
    if (fetching === key + version || (state.about?.key === key && state.about.version === version)) return;
    fetching = key + version;
    clearTimeout(aboutTimer);
    aboutTimer = setTimeout(() => {
      const reading =
        list === "servers"
          ? client.request(adminRoutes.getServer, { params: { id } }).then((server) => ({ key, version, server }))
          : client.request(adminRoutes.getCall, { params: { id } }).then((kept) => ({ key, version, call: kept }));
      reading
        .catch((error: unknown) => ({ key, version, error: error instanceof Error ? error.message : String(error) }))
        .then((about) => {
          fetching = undefined;
          if (wantedAbout(store.state())?.key === key) store.dispatch({ type: "about", about });
        });
    }, aboutMs);
  };

  // The selection changes with keys and with what the gateway sends.
  const unsubscribe = store.subscribe(() => fetchAbout(store.state()));

  return {
    follow(before, after) {
      const was = runningForm(before);
      const is = runningForm(after);
      if (was !== undefined && is === undefined && call !== undefined) {
        call.ending.abort();
        call = undefined;
      }
      if (was === undefined && is !== undefined) void run(is);
      if (after.mode.name === "call" && after.mode.form.stage.name === "edit") suggest(after.mode.form);
    },
    answer(question, how) {
      if (call === undefined) return;
      const { id } = call;
      const checked = checkForm(question.form);
      const content = how === "accept" && question.kind === "form" && checked.ok ? { content: checked.arguments } : {};
      const reply =
        question.kind === "other"
          ? { refusal: "The user rejected the request: the dashboard has no model" }
          : { result: { action: how, ...content } };
      const body = { question: question.id, ...reply };
      client.request(adminRoutes.answerQuestion, { params: { id }, body }).catch(fail);
    },
    toggleWatch(uri) {
      const running = watches.get(uri);
      if (running !== undefined) {
        running.abort();
        return;
      }
      const ending = new AbortController();
      watches.set(uri, ending);
      store.dispatch({ type: "watching", uri, event: "opening" });
      client
        .follow(adminRoutes.watchResource, {
          query: { uri },
          signal: ending.signal,
          onEvent: ({ type }) => {
            if (ending.signal.aborted) return;
            store.dispatch({ type: "watching", uri, event: type === "subscribed" ? "open" : "updated" });
            if (type === "updated") this.follow(store.state(), reread(store, uri));
          },
        })
        .catch((error: unknown) => {
          if (!ending.signal.aborted) fail(error);
        })
        .finally(() => {
          watches.delete(uri);
          store.dispatch({ type: "watching", uri, event: "closed" });
        });
    },
    close() {
      unsubscribe();
      clearTimeout(suggestTimer);
      clearTimeout(aboutTimer);
      call?.ending.abort();
      for (const ending of watches.values()) ending.abort();
    },
  };
}

/** Reads a resource again while it is on the screen. */
function reread(store: Store, uri: string): State {
  const { mode } = store.state();
  const isShown = mode.name === "call" && mode.form.target.kind === "resource" && mode.form.target.name === uri;
  if (isShown && mode.form.stage.name === "done") store.dispatch({ type: "reread" });
  return store.state();
}

function runningForm({ mode }: State): CallForm | undefined {
  return mode.name === "call" && mode.form.stage.name === "running" ? mode.form : undefined;
}

interface Wanted {
  readonly key: string;
  /** A server that changed its state has something new to say. */
  readonly version: string;
  readonly list: "servers" | "calls";
  readonly id: string;
}

function wantedAbout(state: State): Wanted | undefined {
  if (layoutOf(state).detailsColumns === 0) return undefined;
  const selected = selectedItem(state);
  if (selected?.list === "servers") {
    const { id, state: condition, since } = selected.item;
    return { key: `servers ${id}`, version: `${condition} ${since}`, list: "servers", id };
  }
  if (selected?.list !== "calls") return undefined;
  const { requestId } = selected.item;
  return { key: `calls ${requestId}`, version: "", list: "calls", id: requestId };
}

function requestOf(form: CallForm): {
  method: "tools/call" | "prompts/get" | "resources/read";
  params: Record<string, unknown>;
} {
  const checked = checkForm(form);
  const values = checked.ok ? checked.arguments : {};
  const { kind, name } = form.target;
  switch (kind) {
    case "tool":
      return { method: "tools/call", params: { name, arguments: values } };
    case "prompt":
      return { method: "prompts/get", params: { name, arguments: values } };
    case "resource":
      return { method: "resources/read", params: { uri: name } };
    case "template": {
      const parsed = parseTemplate(name);
      // Every field of such a form is text.
      const uri = parsed.ok ? expandTemplate(parsed.template, values as Record<string, string>) : name;
      return { method: "resources/read", params: { uri } };
    }
  }
}
