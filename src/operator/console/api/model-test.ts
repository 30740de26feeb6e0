import { sendTo } from "./client.ts";

interface Outcome {
  readonly success: boolean;
  readonly status_code: number;
  /** The answer to the test request, in the style of the caller. */
  readonly response?: { readonly error?: { readonly message: string } };
}

/** The result of a test request: the milliseconds until its answer, or why it failed. */
export type TestResult =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly message: string };

/** Sends a short message to a model through the gateway. A route or an alias is a model, too. */
export async function testModel(model: string): Promise<TestResult> {
  const startedAt = performance.now();
  const outcome: Outcome = await (await sendTo("POST /admin/test", { body: { model } })).json();
  const { success, status_code, response } = outcome;
  if (success) return { ok: true, ms: performance.now() - startedAt };
  return { ok: false, message: `${status_code} ${response?.error?.message ?? ""}` };
}
