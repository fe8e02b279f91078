/**
 * The actions on the dashboard's state: messages from the gateway, key presses, results of effects.
 *
 * Keys produce only actions; side effects follow from an action and the states around it
 * (effects.ts).
 */
import type { AdminEvent } from "../../api/events.ts";
import type { LiveEvent } from "../../api/live/schema.ts";
import type { LockState } from "../../api/lock/schema.ts";
import type { GatewayState, LogEntry } from "../../api/schema.ts";
import type { FormEdit } from "../../forms/form.ts";
import type { Block } from "../content/blocks.ts";
import type { About, FeedStatus, ListName, Lists, Notice, Panel, PickerKind, State } from "./model.ts";
import type { Theme } from "./theme.ts";

/** The lists that are read as a whole. */
export interface Loaded extends Lists {
  readonly gateway: GatewayState;
  readonly logs: readonly LogEntry[];
}

export type Motion = number | "top" | "bottom" | "half-down" | "half-up" | "page-down" | "page-up";

type DataAction =
  | { readonly type: "loaded"; readonly lists: Partial<Loaded> }
  | { readonly type: "events"; readonly events: readonly AdminEvent[] }
  | { readonly type: "link"; readonly link: FeedStatus }
  | { readonly type: "tick"; readonly now: number }
  | { readonly type: "resize"; readonly size: State["size"] }
  | { readonly type: "notice"; readonly text: string; readonly tone: Notice["tone"] }
  | { readonly type: "live"; readonly event: LiveEvent }
  | {
      readonly type: "call-done";
      readonly failed: boolean;
      readonly ms: number;
      readonly blocks: readonly Block[];
    }
  | { readonly type: "suggested"; readonly field: string; readonly text: string; readonly values: readonly string[] }
  | { readonly type: "about"; readonly about: About }
  | { readonly type: "watching"; readonly uri: string; readonly event: "opening" | "open" | "updated" | "closed" }
  | { readonly type: "reread" }
  | { readonly type: "view"; readonly title: string; readonly blocks: readonly Block[] }
  | { readonly type: "image"; readonly shown: boolean }
  | { readonly type: "lock-shown"; readonly lock: LockState };

export type QueryEdit = { readonly insert: string } | { readonly erase: "one" | "word" | "all" };

export type KeyAction =
  | { readonly type: "panel"; readonly to: Panel }
  | { readonly type: "panel-step"; readonly by: number }
  | { readonly type: "move"; readonly motion: Motion }
  | { readonly type: "enter" }
  | { readonly type: "back" }
  | { readonly type: "templates" }
  | { readonly type: "follow" }
  | { readonly type: "help" }
  | { readonly type: "search" }
  | { readonly type: "search-edit"; readonly edit: QueryEdit }
  | { readonly type: "search-done"; readonly keep: boolean }
  | { readonly type: "pick"; readonly kind: PickerKind }
  | { readonly type: "choose" }
  | { readonly type: "ask-restart" }
  | { readonly type: "log-in" }
  | { readonly type: "pair" }
  | { readonly type: "grants" }
  | { readonly type: "approvals" }
  | { readonly type: "approval-step"; readonly by: number }
  | { readonly type: "approval-answer"; readonly how: "once" | "hour" | "session" | "deny" }
  | { readonly type: "lock" }
  | { readonly type: "lock-step"; readonly by: number }
  | { readonly type: "lock-approve" }
  | { readonly type: "lock-switch" }
  | { readonly type: "ask-toggle" }
  | { readonly type: "answer"; readonly yes: boolean }
  | { readonly type: "call-open" }
  | { readonly type: "call-edit"; readonly edit: FormEdit }
  | { readonly type: "call-next" }
  | { readonly type: "call-submit" }
  | { readonly type: "question-edit"; readonly edit: FormEdit }
  | { readonly type: "question-next" }
  | { readonly type: "question-answer"; readonly how: "accept" | "decline" | "cancel" }
  | { readonly type: "fold"; readonly what: "here" | "all" | "none" }
  | { readonly type: "save" }
  | { readonly type: "show-image" }
  | { readonly type: "watch" }
  | { readonly type: "jump"; readonly to: "tools" | "logs" | "calls"; readonly server?: string }
  | { readonly type: "select"; readonly list: ListName; readonly index: number }
  | { readonly type: "reach"; readonly list: ListName; readonly key: string }
  | { readonly type: "sort"; readonly column: string }
  | { readonly type: "sort-step"; readonly by: number }
  | { readonly type: "sort-reverse" }
  | { readonly type: "palette" }
  | { readonly type: "palette-edit"; readonly edit: QueryEdit }
  | { readonly type: "palette-run"; readonly index?: number }
  | { readonly type: "mouse" }
  | { readonly type: "theme"; readonly to: Theme }
  | { readonly type: "copy" }
  | { readonly type: "reload" }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

export type Action = DataAction | KeyAction;
