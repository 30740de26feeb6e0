import * as z from "zod";
import type { Completion } from "../conversation/events.ts";
import { answer } from "../generation/answer.ts";
import { readBody } from "../http/json-body.ts";
import { resolveModel } from "../models/resolve.ts";
import type { AccountTestResult } from "../platform/administration.ts";
import type { Context, Handler } from "../platform/context.ts";
import { administratorAs, failureMessage, onAccount } from "./account-call.ts";
import { accountIndex, identifiers } from "./identifiers.ts";

const DEFAULT_MODEL = "provider-v4-flash";
const NOT_WRITABLE = "the configuration is read-only: account tokens stay in memory and are lost on restart";

/** A requested model, the default when it is left out or empty. */
export const modelSchema = z
  .string()
  .trim()
  .optional()
  .transform((model) => model || DEFAULT_MODEL);

/** `POST /admin/accounts/test`. An empty `message` tests only that a session can be created. */
export const accountTestSchema = z.object({
  identifier: z
    .string("the account's identifier is needed")
    .trim()
    .min(1, "the account's identifier is needed"),
  model: modelSchema,
  message: z.string().default(""),
});

/** `POST /admin/accounts/sessions/delete-all`. */
export const deleteSessionsSchema = accountTestSchema.pick({ identifier: true });

/** Creates a session on the account and deletes it again; returns how many sessions the account has. */
function tryAccount(context: Context, account: string, model: string): Promise<number> {
  const provider = context.provider();
  return onAccount(context, account, model, async (upstream, signal) => {
    const { sessionCount } = await provider.describeAccount(upstream, signal);
    const session = await provider.createSession(upstream, signal);
    await provider.deleteSession(upstream, session, signal);
    return sessionCount;
  });
}

/** Sends a message through the whole pipeline, pinned to the account. */
async function sendMessage(
  context: Context,
  account: string,
  model: string,
  message: string,
): Promise<Completion | null> {
  const { config } = await context.config();
  const resolved = resolveModel(model, config.model_aliases);
  let completion: Completion | null = null;
  await answer(
    context,
    administratorAs(account),
    {
      dialect: "chat-completions",
      model: resolved,
      messages: [{ role: "user", parts: [{ type: "text", text: message }] }],
      tools: [],
      toolChoice: { type: "auto" },
      parallelToolCalls: true,
      thinking: resolved.thinking,
      showReasoning: resolved.thinking,
      sampling: {},
      responseFormat: { type: "text" },
      stream: false,
    },
    {
      stream: () => ({ keepAlive: "", push: () => "" }),
      body: (whole) => {
        completion = whole;
        return {};
      },
    },
  );
  return completion;
}

/** Tests one account and notes the outcome. Never throws for what the account or the provider does wrong. */
export async function testAccount(
  context: Context,
  account: string,
  model: string,
  message: string,
): Promise<AccountTestResult & { readonly thinking?: string }> {
  const { platform } = context;
  const started = platform.now();
  const result = { account, model, success: true, message: "a session was created and deleted" };
  let sessions = 0;
  let thinking = "";
  try {
    sessions = await tryAccount(context, account, model);
    if (message !== "") {
      const completion = await sendMessage(context, account, model, message);
      result.message = completion?.text ?? "";
      thinking = completion?.reasoning ?? "";
    }
  } catch (error) {
    result.success = false;
    result.message = failureMessage(error);
  }
  await platform.accounts.setTestStatus(account, result.success ? "ok" : "failed");
  const timed = { ...result, response_time: platform.now() - started, session_count: sessions };
  return thinking === "" ? timed : { ...timed, thinking };
}

/** The identifier under which the pool knows a named account. Throws 404. */
export async function poolIdentifier(context: Context, named: string): Promise<string> {
  const { config } = await context.platform.configuration.readFresh();
  const index = await accountIndex(config, named);
  return (await identifiers(config))[index] ?? named;
}

/** `POST /admin/accounts/test` (contract). `response_time` is in milliseconds. */
export const testOneAccount: Handler = async (context) => {
  const { identifier, model, message } = await readBody(context.request, accountTestSchema);
  const { config, writable } = await context.config();
  resolveModel(model, config.model_aliases);
  const account = await poolIdentifier(context, identifier);
  return Response.json({
    ...(await testAccount(context, account, model, message)),
    config_writable: writable,
    config_warning: writable ? "" : NOT_WRITABLE,
  });
};

/** `POST /admin/accounts/sessions/delete-all` (contract): a failure is an answer too, with its reason. */
export const deleteSessions: Handler = async (context) => {
  const { identifier } = await readBody(context.request, deleteSessionsSchema);
  try {
    const account = await poolIdentifier(context, identifier);
    const deleted = await onAccount(context, account, DEFAULT_MODEL, (upstream, signal) =>
      context.provider().deleteAllSessions(upstream, signal),
    );
    return Response.json({ success: true, message: `${deleted} sessions were deleted`, deleted });
  } catch (error) {
    return Response.json({ success: false, message: failureMessage(error) });
  }
};
