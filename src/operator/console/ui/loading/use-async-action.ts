import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";

/** An action that the user starts and that takes time. */
export interface AsyncAction {
  /** Whether the action is running. */
  readonly busy: boolean;
  /** Message of the last failure; empty if it succeeded. */
  readonly error: string;
  /** Runs the action; false if it failed. */
  run(action: () => Promise<unknown>): Promise<boolean>;
  /** Returns a form's submit handler that runs the action. */
  onSubmit(action: () => Promise<unknown>): (event: Event) => void;
}

export function useAsyncAction(): AsyncAction {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const run = async (action: () => Promise<unknown>) => {
    setBusy(true);
    setError("");
    try {
      await action();
      return true;
    } catch (thrown) {
      setError(toMessage(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (action: () => Promise<unknown>) => (event: Event) => {
    event.preventDefault();
    void run(action);
  };
  return { busy, error, run, onSubmit };
}
