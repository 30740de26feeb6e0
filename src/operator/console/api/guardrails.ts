import { callApi, callVersioned, type Versioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";

/** The rules that check requests and answers. Tokens are left out, and addresses of webhooks are masked. */
export type Guardrails = Versioned<AnswerOf<"GET /admin/guardrails">>;
export type Guardrail = Guardrails["rules"][number];
/** The rules as they are sent. */
export type GuardrailChanges = BodyOf<"PUT /admin/guardrails">;
/** What the rules do with a text. */
export type GuardrailVerdict = AnswerOf<"POST /admin/guardrails/check">;

export const readGuardrails = (signal?: AbortSignal): Promise<Guardrails> =>
  callVersioned("GET /admin/guardrails", { signal });

/** Saves the rules and returns them as they are stored. */
export async function saveGuardrails(
  body: GuardrailChanges,
  ifMatch: string | undefined,
): Promise<Guardrails> {
  await callApi("PUT /admin/guardrails", { body, ifMatch });
  return readGuardrails();
}

/** Checks a text by rules that need not be saved. */
export const checkText = (body: BodyOf<"POST /admin/guardrails/check">) =>
  callApi("POST /admin/guardrails/check", { body });
