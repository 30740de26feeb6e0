import { listSubjectEntries } from "../../core/auth/access-rules.ts";
import { selectGuardrails } from "../../core/config/select-guardrails.ts";
import { EMPTY_OUTPUT } from "../../core/conversation/outcome.ts";
import type { GenerationJob } from "./generation-job.ts";

/** Few deployments have guardrails. */
const loadGuard = () => import("../guardrails/guard.ts");

/**
 * Applies the guardrails to a request before it takes a slot. Returns the job with the conversation that the provider may
 * see.
 *
 * @throws GatewayError if a guardrail denies the request. It is then recorded.
 */
export async function applyGuardrails(job: GenerationJob): Promise<GenerationJob> {
  const { context, caller, conversation, abort, recording } = job;
  const { config } = await context.config();
  const rules = selectGuardrails(config, () => listSubjectEntries(caller, context.requestLimits));
  if (rules.length === 0) return job;
  const { Guard } = await loadGuard();
  const access = { platform: context.platform, privateHosts: config.guardrails.private_hosts };
  const guard = new Guard(rules, access, abort.signal);
  try {
    const checked = await guard.checkConversation(conversation, config);
    recording?.setConversation(checked);
    return { ...job, conversation: checked, guard };
  } catch (error) {
    // A record of a request that was denied has no answer.
    recording?.start("", EMPTY_OUTPUT);
    throw error;
  }
}
