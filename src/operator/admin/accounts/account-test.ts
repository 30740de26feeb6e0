import * as z from "zod";
import type { Completion } from "../../../core/conversation/events.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { describeForAdministrator } from "../../../core/errors/failure-message.ts";
import { isUnresponsivePool } from "../../../core/errors/unresponsive-pool.ts";
import type { AccountTestResult } from "../../../core/ports/administration.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { chatCompletions } from "../../../gateway/dialects/chat-completions/dialect.ts";
import { generateCompletion } from "../../../gateway/generation/complete.ts";
import { resolveModel } from "../../../gateway/models/resolve-model.ts";
import { accountIdentifiers, findAccountIndex } from "../account-identifiers.ts";
import { recordAction } from "../editing/audit-recording.ts";
import { administratorCaller, callWithAccount, findProviderId } from "./account-call.ts";

/** Result of one account's test. `response_time` is in milliseconds. */
export const accountTestResultSchema = () =>
  z.object({
    account: z.string(),
    success: z.boolean(),
    response_time: z.int(),
    message: z.string(),
    model: z.string(),
    session_count: z.number(),
  }) satisfies z.ZodType<AccountTestResult>;

/** Model for account tests if the request names none. */
export const DEFAULT_TEST_MODEL = "provider-v4-flash";
const READ_ONLY_WARNING =
  "the configuration is read-only: account tokens stay in memory and are lost on restart";

/** Schema of a requested model. A missing or empty name means the default test model. */
export const testModelSchema = once(() =>
  z
    .string()
    .trim()
    .optional()
    .transform((model) => model || DEFAULT_TEST_MODEL),
);

/** Body of `POST /admin/accounts/test`. With an empty `message` the test only checks that a session can be created. */
const accountTestSchema = lazyObject(() => ({
  identifier: z
    .string("the account's identifier is needed")
    .trim()
    .min(1, "the account's identifier is needed"),
  model: testModelSchema(),
  message: z.string().default(""),
}));

/** Body of `POST /admin/accounts/sessions/delete-all`. */
const deleteSessionsSchema = lazyObject(() => ({ identifier: accountTestSchema.shape.identifier }));

/** Result of checking an account's token. */
interface TokenCheck {
  /** Text for administrators. */
  readonly message: string;
  /** Number of sessions of the account; 0 if the provider has no sessions. */
  readonly sessions: number;
}

/** Checks an account's token. If the provider has sessions, creates and deletes one. */
function checkToken(context: Context, account: string, model: string): Promise<TokenCheck> {
  return callWithAccount(context, account, model, async (upstream, signal, provider) => {
    const { sessionCount } = await provider.checkAccount(upstream, signal);
    const { sessions } = provider;
    if (sessions === undefined) return { message: "the provider accepted the token", sessions: 0 };
    await sessions.delete(upstream, await sessions.create(upstream, signal), signal);
    return { message: "a session was created and deleted", sessions: sessionCount };
  });
}

/** Sends a message through the whole pipeline, pinned to the account. */
async function sendTestMessage(
  context: Context,
  account: string,
  model: string,
  message: string,
): Promise<Completion> {
  const { config } = await context.config();
  const provider = await findProviderId(config, account);
  const namedModel = resolveModel(model, config);
  // An account can serve only models of its own provider.
  const resolved =
    (namedModel.provider ?? "") === provider || provider === ""
      ? namedModel
      : resolveModel(`${provider}/${model}`, config);
  const { completion } = await generateCompletion({
    context,
    caller: administratorCaller(account),
    conversation: {
      dialect: chatCompletions.id,
      contentField: "message",
      model: resolved,
      messages: [{ role: "user", parts: [{ type: "text", text: message }] }],
      tools: [],
      toolChoice: { type: "auto" },
      parallelToolCalls: true,
      thinking: resolved.thinking,
      showReasoning: resolved.thinking,
      options: {},
      responseFormat: { type: "text" },
      stream: false,
    },
  });
  return completion;
}

/**
 * Tests one account and stores the result. Failures of the account or the provider do not throw.
 *
 * @throws GatewayError 503 if the account's pool does not answer.
 */
export async function testAccount(
  context: Context,
  account: string,
  model: string,
  message: string,
): Promise<AccountTestResult & { readonly thinking?: string }> {
  const { platform } = context;
  const started = platform.now();
  const result = { account, model, success: true, message: "" };
  let sessions = 0;
  let thinking = "";
  try {
    const check = await checkToken(context, account, model);
    sessions = check.sessions;
    result.message = check.message;
    if (message !== "") {
      const completion = await sendTestMessage(context, account, model, message);
      result.message = completion.text;
      thinking = completion.reasoning;
    }
  } catch (error) {
    if (isUnresponsivePool(error)) throw error;
    result.success = false;
    result.message = describeForAdministrator(error);
  }
  await platform.accounts.setTestStatus(account, result.success ? "ok" : "failed");
  const testResult = { ...result, response_time: platform.now() - started, session_count: sessions };
  return thinking === "" ? testResult : { ...testResult, thinking };
}

/** Returns the identifier that the pool uses for an account. Throws 404 for an unknown account. */
async function resolveIdentifier(context: Context, name: string): Promise<string> {
  const { config } = await context.platform.configuration.readFresh();
  const index = await findAccountIndex(config, name);
  return (await accountIdentifiers(config))[index] ?? name;
}

const deletedSessionsSchema = () =>
  z.object({ success: z.boolean(), message: z.string(), deleted: z.int().optional() });

export const ACCOUNT_TEST_ENDPOINTS = [
  /** `POST /admin/accounts/test` (docs/contract/admin-entries.md). `response_time` is in milliseconds. */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts/test",
    summary: "Test one account",
    body: accountTestSchema,
    answers: jsonResponse(() =>
      accountTestResultSchema().extend({
        thinking: z.string().optional(),
        config_writable: z.boolean(),
        config_warning: z.string(),
      }),
    ),
    handler: async (context, { body: { identifier, model, message } }) => {
      const { config, writable } = await context.config();
      resolveModel(model, config);
      const account = await resolveIdentifier(context, identifier);
      const tested = await testAccount(context, account, model, message);
      await recordAction(context, { [account]: tested.success ? "ok" : "failed" });
      return Response.json({
        ...tested,
        config_writable: writable,
        config_warning: writable ? "" : READ_ONLY_WARNING,
      });
    },
  }),
] satisfies readonly Endpoint[];

/** Endpoints for an account's sessions at the provider. */
export const SESSION_ENDPOINTS = [
  /**
   * `POST /admin/accounts/sessions/delete-all` (docs/contract/admin-entries.md).
   * A failure is also a 200 response, with its reason.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts/sessions/delete-all",
    role: "owner",
    audit: "deletion",
    summary: "Delete an account's sessions",
    body: deleteSessionsSchema,
    answers: jsonResponse(deletedSessionsSchema),
    handler: async (context, { body: { identifier } }) => {
      try {
        const account = await resolveIdentifier(context, identifier);
        const deleted = await callWithAccount(
          context,
          account,
          DEFAULT_TEST_MODEL,
          // A provider without sessions has nothing to delete.
          async (upstream, signal, { sessions }) => (await sessions?.deleteAll(upstream, signal)) ?? 0,
        );
        return Response.json({ success: true, message: `${deleted} sessions were deleted`, deleted });
      } catch (error) {
        return Response.json({ success: false, message: describeForAdministrator(error) });
      }
    },
  }),
] satisfies readonly Endpoint[];
