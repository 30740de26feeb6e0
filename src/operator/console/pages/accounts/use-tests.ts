import { useState } from "preact/hooks";
import { type TestResult, testAccount } from "../../api/accounts.ts";
import { toMessage } from "../../api/client.ts";

/** State of an account's test on this page. */
export type TestState =
  | "running"
  | Pick<TestResult, "success" | "response_time" | "session_count" | "message" | "config_warning">;

export interface Tests {
  readonly states: ReadonlyMap<string, TestState>;
  run(identifier: string): Promise<void>;
}

/** Runs tests of single accounts; calls `onDone` after each test. */
export function useTests(onDone: () => Promise<void>): Tests {
  const [states, setStates] = useState<ReadonlyMap<string, TestState>>(new Map());
  const setState = (identifier: string, state: TestState) =>
    setStates((before) => new Map(before).set(identifier, state));
  const run = async (identifier: string) => {
    setState(identifier, "running");
    try {
      setState(identifier, await testAccount(identifier));
    } catch (error) {
      const failed = { success: false, response_time: 0, session_count: 0 };
      setState(identifier, { ...failed, message: toMessage(error), config_warning: "" });
    }
    await onDone();
  };
  return { states, run };
}
