import { hasAttachments } from "../../core/conversation/conversation.ts";
import { getProvider } from "../providers/provider-registry.ts";
import { ImageWithoutVisionError } from "../providers/requests/attachments.ts";
import { Generation } from "./generation.ts";
import type { GenerationJob } from "./generation-job.ts";
import { selectNativePath } from "./native/native-selection.ts";
import { createPrepareOptions } from "./preparation/prepare-options.ts";
import { rejectUnsupportedOptions, withVisionModel } from "./routes/model-selection.ts";

/**
 * Prepares a generation: renders the prompt and fetches attachments before a slot is acquired, so that an invalid request
 * uses none.
 *
 * @throws GatewayError 400 for content that the model cannot take, 503 when no provider is configured
 */
export async function prepareGeneration(job: GenerationJob): Promise<Generation> {
  const { context, conversation } = job;
  const { config } = await context.config();
  const provider = getProvider(context.platform, config, conversation.model.provider);
  const options = createPrepareOptions(config, conversation, context);
  const load = async (currentJob: GenerationJob) => {
    const translate = () => {
      if (currentJob.native?.translationError !== undefined) throw currentJob.native.translationError;
      // Requests in the provider's own protocol were not checked before.
      if (currentJob.native !== undefined)
        rejectUnsupportedOptions(currentJob.conversation, provider.api.capabilities);
      return provider.api.prepare(currentJob.conversation, options);
    };
    const native = selectNativePath(currentJob, provider, translate);
    if (native !== null) return new Generation(currentJob, provider, native.prepared, native.job);
    const prepared = translate();
    if (hasAttachments(currentJob.conversation)) await prepared.load?.(currentJob.abort.signal);
    return new Generation(currentJob, provider, prepared, null);
  };
  return load(job).catch((error: unknown) => {
    const visionConversation = withVisionModel(conversation);
    if (!(error instanceof ImageWithoutVisionError) || visionConversation.model.id === conversation.model.id)
      throw error;
    // Only the loaded attachment shows that its URL leads to an image.
    context.facts.model = visionConversation.model.id;
    job.recording?.setConversation(visionConversation);
    return load({ ...job, conversation: visionConversation });
  });
}
