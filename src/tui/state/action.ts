/**
 * The actions on the dashboard's state: messages from the gateway, key presses, results of effects.
 *
 * Keys produce only actions; side effects follow from an action and the states around it
 * (effects.ts).
 */
import type { AdminEvent } from "../../admin/events.ts";
import type { GatewayState, LogEntry } from "../../admin/schema.ts";
import type { FormEdit } from "./form.ts";
import type { Link, Lists, Notice, Panel, PickerKind, State } from "./model.ts";

/** The lists that are read as a whole. */
export interface Loaded extends Lists {
  readonly gateway: GatewayState;
  readonly logs: readonly LogEntry[];
}

export type Motion = number | "top" | "bottom" | "half-down" | "half-up" | "page-down" | "page-up";

type DataAction =
  | { readonly type: "loaded"; readonly lists: Partial<Loaded> }
  | { readonly type: "events"; readonly events: readonly AdminEvent[] }
  | { readonly type: "link"; readonly link: Link }
  | { readonly type: "tick"; readonly now: number }
  | { readonly type: "resize"; readonly size: State["size"] }
  | { readonly type: "notice"; readonly text: string; readonly tone: Notice["tone"] }
  | {
      readonly type: "call-done";
      readonly tool: string;
      readonly failed: boolean;
      readonly ms: number;
      readonly text: string;
    };

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
  | {
      readonly type: "search-edit";
      readonly edit: { readonly insert: string } | { readonly erase: "one" | "word" | "all" };
    }
  | { readonly type: "search-done"; readonly keep: boolean }
  | { readonly type: "pick"; readonly kind: PickerKind }
  | { readonly type: "choose" }
  | { readonly type: "ask-restart" }
  | { readonly type: "ask-toggle" }
  | { readonly type: "answer"; readonly yes: boolean }
  | { readonly type: "call-open" }
  | { readonly type: "call-edit"; readonly edit: FormEdit }
  | { readonly type: "call-next" }
  | { readonly type: "call-submit" }
  | { readonly type: "copy" }
  | { readonly type: "reload" }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

export type Action = DataAction | KeyAction;
