/** A button that asks once before it acts. */
import { useState } from "preact/hooks";

export function Confirm({ label, question, onYes }: { label: string; question: string; onYes: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!asking)
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  const answer = (act?: () => void) => (): void => {
    setAsking(false);
    act?.();
  };
  return (
    <span class="confirm" role="alertdialog" aria-label={question}>
      <span>{question}</span>
      <button type="button" class="danger" ref={(button) => button?.focus()} onClick={answer(onYes)}>
        {label}
      </button>
      <button type="button" onClick={answer()}>
        Keep
      </button>
    </span>
  );
}
