/** A question that a server asks during a call: a form, a link to open, or a text from a model. */
import { useState } from "preact/hooks";
import { fieldsOf } from "../../forms/form.ts";
import { visible } from "../format.ts";
import { Form } from "./form.tsx";
import { JsonView } from "./json-view.tsx";
import { SafeLink } from "./markdown.tsx";

export interface Question {
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Props {
  readonly question: Question;
  readonly onAnswer: (answer: { result?: unknown; refusal?: string }) => void;
}

export function QuestionForm(props: Props) {
  const { method, params } = props.question;
  return (
    <div class="question" role="group" aria-label="A question from the server">
      <p class="question-text">{visible(String(params["message"] ?? "The server asks for a model's answer"))}</p>
      {method === "sampling/createMessage" ? (
        <Sampling {...props} />
      ) : params["mode"] === "url" ? (
        <Link {...props} />
      ) : (
        <Elicitation {...props} />
      )}
    </div>
  );
}

function Elicitation({ question, onAnswer }: Props) {
  const schema = question.params["requestedSchema"];
  return (
    <Form
      fields={fieldsOf(typeof schema === "object" && schema !== null ? (schema as Record<string, unknown>) : {})}
      submit="Answer"
      onSubmit={(content) => onAnswer({ result: { action: "accept", content } })}
    >
      <button type="button" onClick={() => onAnswer({ result: { action: "decline" } })}>
        Decline
      </button>
      <button type="button" class="quiet" onClick={() => onAnswer({ result: { action: "cancel" } })}>
        Cancel
      </button>
    </Form>
  );
}

function Link({ question, onAnswer }: Props) {
  const address = String(question.params["url"] ?? "");
  return (
    <>
      <p>
        Open: <SafeLink href={address} text={address} />
      </p>
      <div class="form-buttons">
        <button type="button" class="primary" onClick={() => onAnswer({ result: { action: "accept" } })}>
          I have opened it
        </button>
        <button type="button" onClick={() => onAnswer({ result: { action: "decline" } })}>
          Decline
        </button>
      </div>
    </>
  );
}

function Sampling({ question, onAnswer }: Props) {
  const [text, setText] = useState("");
  return (
    <>
      <div class="json">
        <JsonView value={question.params["messages"]} />
      </div>
      <div class="field">
        <label for={`answer-${question.id}`}>What the model would say</label>
        <textarea
          id={`answer-${question.id}`}
          rows={4}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <div class="form-buttons">
        <button
          type="button"
          class="primary"
          onClick={() =>
            onAnswer({
              result: { role: "assistant", model: "a person", content: { type: "text", text }, stopReason: "endTurn" },
            })
          }
        >
          Answer
        </button>
        <button type="button" onClick={() => onAnswer({ refusal: "The user declined" })}>
          Decline
        </button>
      </div>
    </>
  );
}
