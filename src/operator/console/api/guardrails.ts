import { callApi, callVersioned, type Versioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";

/** Checks of requests and answers. Tokens are left out, and addresses of webhooks are masked. */
export type Guardrails = Versioned<AnswerOf<"GET /admin/guardrails">>;
/** The checks as they are sent. */
export type GuardrailChanges = BodyOf<"PUT /admin/guardrails">;

export const readGuardrails = (signal?: AbortSignal): Promise<Guardrails> =>
  callVersioned("GET /admin/guardrails", { signal });

export const saveGuardrails = (body: GuardrailChanges, ifMatch: string | undefined) =>
  callApi("PUT /admin/guardrails", { body, ifMatch });
