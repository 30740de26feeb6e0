import * as z from "zod/mini";
import { callApi } from "./client.ts";

const outcome = z.object({
  success: z.boolean(),
  status_code: z.number(),
  response: z.optional(z.object({ error: z.optional(z.object({ message: z.string() })) })),
});

/** The result of a test request: the milliseconds until its answer, or why it failed. */
export type TestResult =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly message: string };

/** Sends a short message to a model through the gateway. A route or an alias is a model, too. */
export async function testModel(model: string): Promise<TestResult> {
  const startedAt = performance.now();
  const { success, status_code, response } = await callApi(outcome, "/admin/test", {
    method: "POST",
    body: { model },
  });
  if (success) return { ok: true, ms: performance.now() - startedAt };
  return { ok: false, message: `${status_code} ${response?.error?.message ?? ""}` };
}
