import { useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";

/** Something that the person sets off and that takes a while. */
export interface Work {
  /** Whether it runs. */
  readonly busy: boolean;
  /** Why it failed the last time; empty when it did not. */
  readonly error: string;
  /** Does it; false when it failed. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  /** For a form: does it when the form is sent. */
  onSubmit(work: () => Promise<unknown>): (event: Event) => void;
}

export function useWork(): Work {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setError("");
    try {
      await work();
      return true;
    } catch (thrown) {
      setError(messageOf(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (work: () => Promise<unknown>) => (event: Event) => {
    event.preventDefault();
    void run(work);
  };
  return { busy, error, run, onSubmit };
}
