/** The form of one call in the dashboard: its target, its fields, and how far the call is. */
import type { PromptRow, ToolRow } from "../../api/schema.ts";
import { type Fields, fieldsOf, promptFields, templateFields } from "../../forms/form.ts";
import type { CallStage, Target } from "./stage.ts";

export interface CallForm extends Fields {
  readonly target: Target;
  readonly stage: CallStage;
}

export function createForm(tool: ToolRow): CallForm {
  const destructive = tool.annotations?.["destructiveHint"] === true && tool.annotations["readOnlyHint"] !== true;
  const target = { kind: "tool", name: tool.name, destructive } as const;
  return { target, ...fieldsOf(tool.inputSchema), stage: { name: "edit" } };
}

export function createPromptForm(prompt: PromptRow): CallForm {
  return { target: { kind: "prompt", name: prompt.name }, ...promptFields(prompt), stage: { name: "edit" } };
}

export function createTemplateForm(template: string): CallForm {
  return { target: { kind: "template", name: template }, ...templateFields(template), stage: { name: "edit" } };
}

/** Reading a resource takes no input, so it starts at once. */
export function createReading(uri: string, stage: CallStage): CallForm {
  return { target: { kind: "resource", name: uri }, fields: [], focus: 0, whole: false, stage };
}
