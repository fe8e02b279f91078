/** A form made from a JSON Schema, with what each field wants in words. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { checkForm, type Field, type Fields } from "../../forms/form.ts";
import { visible } from "../format.ts";

export function Form(props: {
  fields: Fields;
  submit: string;
  busy?: boolean;
  onSubmit: (values: Record<string, unknown>) => void;
  /** Asks the server for values of a field. */
  complete?: ((field: string, text: string, others: Record<string, string>) => Promise<string[]>) | undefined;
  children?: ComponentChildren;
}) {
  const [form, setForm] = useState(props.fields);
  const element = useRef<HTMLFormElement>(null);
  const put = (name: string, part: Partial<Field>): void =>
    setForm((old) => ({
      ...old,
      fields: old.fields.map((field) => (field.name === name ? { ...field, ...part } : field)),
    }));
  const submit = (event: Event): void => {
    event.preventDefault();
    const checked = checkForm(form);
    if (checked.ok) return props.onSubmit(checked.arguments);
    setForm(checked.form);
    const wrong = checked.form.fields.find(({ error }) => error !== undefined);
    if (wrong) element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(wrong.name)}"]`)?.focus();
  };
  return (
    <form ref={element} class="form" onSubmit={submit} noValidate>
      {form.fields.map((field) => (
        <Input
          key={field.name}
          field={field}
          onText={(text) => put(field.name, { text, error: undefined })}
          complete={
            props.complete &&
            ((text) =>
              props.complete!(
                field.name,
                text,
                Object.fromEntries(
                  form.fields.filter(({ name }) => name !== field.name).map(({ name, text }) => [name, text]),
                ),
              ))
          }
        />
      ))}
      <div class="form-buttons">
        <button type="submit" class="primary" disabled={props.busy}>
          {props.submit}
        </button>
        {props.children}
      </div>
    </form>
  );
}

function Input(props: {
  field: Field;
  onText: (text: string) => void;
  complete?: ((text: string) => Promise<string[]>) | undefined;
}) {
  const { field, onText, complete } = props;
  const id = useId();
  const [suggestions, setSuggestions] = useState<string[]>([]);
  useEffect(() => {
    if (!complete || !field.completes) return;
    let stale = false;
    const timer = setTimeout(() => {
      complete(field.text).then(
        (values) => {
          if (!stale) setSuggestions(values);
        },
        () => {},
      );
    }, 200);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
    // Only the text decides what is suggested.
  }, [field.text]);
  const shared = {
    id,
    name: field.name,
    "aria-describedby": `${id}-about`,
    "aria-invalid": field.error !== undefined,
    "aria-required": field.required,
  };
  const type = (event: { currentTarget: { value: string } }): void => onText(event.currentTarget.value);
  const isLong = field.kind === "json" || field.text.length > 60 || field.text.includes("\n");
  return (
    <div class="field">
      <label for={id}>
        <code>{visible(field.name)}</code> <span class="muted">{visible(field.type)}</span>
        {field.required && <span class="required"> required</span>}
      </label>
      {field.options.length > 0 ? (
        <select {...shared} value={field.text} onChange={type}>
          {field.options.map((option) => (
            <option key={option} value={option}>
              {option === "" ? "–" : visible(choiceText(option, field.options))}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...shared} rows={4} spellcheck={false} value={field.text} onInput={type} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={field.kind === "number" || field.kind === "integer" ? "decimal" : "text"}
          autocomplete="off"
          spellcheck={false}
          list={suggestions.length > 0 ? `${id}-list` : undefined}
          value={field.text}
          onInput={type}
        />
      )}
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
      <small id={`${id}-about`} class={field.error === undefined ? "muted" : "error"}>
        {field.error ??
          [field.description, field.wants]
            .filter((part) => part !== "")
            .map(visible)
            .join(" · ")}
      </small>
    </div>
  );
}

/** Returns a choice without the quotes of JSON, unless another choice would then read the same. */
function choiceText(option: string, all: readonly string[]): string {
  if (!option.startsWith('"')) return option;
  const text = String(JSON.parse(option));
  return text === "" || all.includes(text) ? option : text;
}
