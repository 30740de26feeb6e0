import { assertDialectAllowed } from "../../core/auth/access-rules.ts";
import type { Caller } from "../../core/auth/callers.ts";
import type { GatewayError } from "../../core/errors/gateway-error.ts";
import { toCallerError } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect, explainAbort } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { RequestControls } from "../generation/preparation/parse-request-controls.ts";
import { readRequestControls } from "../generation/preparation/request-controls.ts";
import { classifyFailure } from "../generation/routes/route-runner.ts";
import { Recording } from "../history/recording.ts";
import { answerCallThroughCache } from "../response-cache/answer-through-cache.ts";
import { toCacheableCall } from "./cacheable-call.ts";
import { describeCall } from "./describe-call.ts";
import type { PassthroughCall } from "./passthrough-call.ts";
import { PassthroughRun } from "./passthrough-run.ts";
import { PASSTHROUGH_STYLE, recordTarget, resolveTargets, type Target } from "./targets.ts";

/** Whether another model of a route may answer what one has refused. */
function canTryNextTarget(error: GatewayError): boolean {
  return error.status === 501 || classifyFailure(error) !== null;
}

/** Tries the targets in order. Throws the last error as `GatewayError`. */
async function tryTargets(
  run: PassthroughRun,
  targets: readonly Target[],
  recording: Recording,
): Promise<void> {
  const { context, abort, call } = run;
  for (const [index, target] of targets.entries()) {
    const isLast = index === targets.length - 1;
    recordTarget(context, target, targets.length === 1);
    recording.setConversation(describeCall(call, target));
    const failures = recording.failureCount;
    try {
      await run.send(target, isLast);
      return;
    } catch (thrown) {
      const error = toCallerError(thrown, context.requestId);
      const canContinue =
        !run.hasBegun && !abort.signal.aborted && call.canReplay() && canTryNextTarget(error);
      if (isLast || !canContinue || !run.retries.take("model", thrown)) throw error;
      if (recording.failureCount === failures) recording.recordFailure(error, target ?? undefined);
    }
  }
}

/**
 * Sends a request to the provider of its model and passes the answer through. Until the first byte of the answer, other
 * accounts and the other models of a route are tried.
 *
 * @param onEnd called when nothing of the request is read any more. `error` is the failure, if there is one.
 * @throws GatewayError before the first byte: 403 for what the key must not use, 501 if the provider does not have the
 *   endpoint, and the errors of the provider
 */
export async function answerCall(
  context: Context,
  caller: Caller,
  call: PassthroughCall,
  onEnd: (error: unknown) => Promise<void> = async () => undefined,
): Promise<Response> {
  const { facts } = context;
  facts.dialect = PASSTHROUGH_STYLE;
  facts.operation = call.endpoint.operation;
  facts.stream = call.stream;
  let targets: readonly Target[];
  let controls: RequestControls;
  try {
    controls = await readRequestControls(context.request.headers);
    assertDialectAllowed(caller.key?.entry, PASSTHROUGH_STYLE);
    targets = await resolveTargets(context, caller, call, controls);
  } catch (error) {
    await onEnd(error);
    throw error;
  }
  if (call.model !== "") facts.requestedModel = call.model;
  const prepared = { caller, call, targets, controls, onEnd };
  if (call.jsonText === undefined) return sendCall(context, prepared);
  const describe = () => toCacheableCall(context, prepared);
  return answerCallThroughCache(context, caller, describe, (watched) => sendCall(watched, prepared));
}

/** A call whose targets are known. */
interface PreparedCall {
  readonly caller: Caller;
  readonly call: PassthroughCall;
  readonly targets: readonly Target[];
  readonly controls: RequestControls;
  /** Called when nothing of the request is read any more. */
  readonly onEnd: (error: unknown) => Promise<void>;
}

/** Sends a call to its targets. Returns the answer when it begins. */
async function sendCall(context: Context, prepared: PreparedCall): Promise<Response> {
  const { caller, call, targets, controls, onEnd } = prepared;
  const { abort, stop } = abortOnDisconnect(context);
  const retries = new RetryBudget(() => context.platform.now(), controls.maxRetries);
  const deadline = controls.startDeadline?.(abort);
  const recording = new Recording(context, describeCall(call, targets[0] ?? null), retries);
  const run = new PassthroughRun(context, caller, call, abort, recording, retries, () => deadline?.end());
  recording.start(call.promptText, run);
  const answer = async () => {
    let failure: GatewayError | null = null;
    try {
      await tryTargets(run, targets, recording);
    } catch (thrown) {
      failure = toCallerError(explainAbort(abort, thrown), context.requestId);
    }
    deadline?.end();
    await onEnd(failure);
    await run.finish(failure);
    stop();
  };
  // When the client leaves, only work under `waitUntil` continues to its end.
  const running = answer();
  context.waitUntil(running);
  const response = await run.response;
  // `handleRequest` keeps the request's memory until `running` has settled.
  context.keepUntil(running);
  return response;
}
