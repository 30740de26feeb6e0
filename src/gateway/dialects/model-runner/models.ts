import * as z from "zod";
import type { CatalogueModel, ResolvedModel } from "../../../core/conversation/model.ts";
import { sha256Hex } from "../../../core/encoding/hash.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { jsonResponse, openEndpoint } from "../../../core/routing/endpoint.ts";
import { VERSION } from "../../../core/version.ts";
import { CATALOGUE_CREATED, CONTEXT_LENGTH, getVisionModel } from "../../models/catalogue.ts";
import { readWithModelNames, type UsageLabels } from "../../models/read-with-model-names.ts";
import { listAllModels, resolvePathModel } from "../../models/resolve-model.ts";
import { runningSchema, showAnswerSchema, tagsSchema } from "./answers.ts";
import { DIALECT_ID } from "./names.ts";

const MODIFIED_AT = new Date(CATALOGUE_CREATED * 1000).toISOString();

/** Time at which a loaded model expires: never. */
const NEVER = "9999-12-31T23:59:59Z";

/** Value of `general.architecture`, and the prefix of the architecture's fields in `model_info`. */
const ARCHITECTURE = "provider";

/** The tag that clients append to a model name without a tag. */
const DEFAULT_TAG = ":latest";

/**
 * Resolves a model name of this style, with or without its tag.
 *
 * @param operation the operation under which usage counts a request for an unknown model; absent: usage does not count it
 * @throws GatewayError 404 for an unknown name, as clients of this style expect.
 */
export async function resolveRunnerModel(
  context: Context,
  name: string,
  operation?: UsageLabels["operation"],
): Promise<ResolvedModel> {
  const untaggedName = name.endsWith(DEFAULT_TAG) ? name.slice(0, -DEFAULT_TAG.length) : name;
  const usage = operation === undefined ? undefined : { dialect: DIALECT_ID, operation };
  const model = await readWithModelNames(context, untaggedName, resolvePathModel, usage);
  return { ...model, requested: name };
}

/**
 * Returns the capabilities of a model (docs/contract/generations.md, Local-model-runner style). `vision` also covers a
 * model with a vision variant.
 */
function getCapabilities(model: CatalogueModel): string[] {
  return [
    "completion",
    "tools",
    ...(model.thinking ? ["thinking"] : []),
    ...(supportsImages(model) ? ["vision"] : []),
  ];
}

function supportsImages(model: CatalogueModel): boolean {
  return model.provider === undefined
    ? getVisionModel(model).vision
    : model.vision || model.visionVariant !== undefined;
}

function toDetails(model: CatalogueModel): Record<string, unknown> {
  return {
    parent_model: "",
    format: "remote",
    family: ARCHITECTURE,
    families: [ARCHITECTURE],
    parameter_size: model.upstream,
    quantization_level: "",
  };
}

/** Returns an identifier of the current version of a model. Clients only compare it. */
function computeDigest(model: CatalogueModel): Promise<string> {
  return sha256Hex(`${VERSION} ${model.id}`);
}

/** `GET /api/version`. */
export const runnerVersion = openEndpoint({
  method: "GET",
  path: "/api/version",
  summary: "Version of the runner API",
  answers: jsonResponse(() => z.object({ version: z.string() })),
  handler: () => Response.json({ version: VERSION }),
});

async function describeModel(model: CatalogueModel) {
  return {
    name: model.id,
    model: model.id,
    size: 0,
    digest: await computeDigest(model),
    details: toDetails(model),
  };
}

/**
 * `GET /api/tags`: the canonical models, then the models of configured providers and the names of routes. Their `size` is
 * 0, because the gateway stores no models on disk.
 */
export const runnerTags = openEndpoint({
  method: "GET",
  path: "/api/tags",
  summary: "List the models",
  answers: jsonResponse(tagsSchema),
  handler: async (context) => {
    const { config } = await context.config();
    const models = listAllModels(config).map(async (model) => ({
      ...(await describeModel(model)),
      modified_at: MODIFIED_AT,
      capabilities: getCapabilities(model),
    }));
    return Response.json({ models: await Promise.all(models) });
  },
});

/** `GET /api/ps`: the loaded models. Every model is always ready and uses no memory here. */
export const runnerRunning = openEndpoint({
  method: "GET",
  path: "/api/ps",
  summary: "List the models that are loaded",
  answers: jsonResponse(runningSchema),
  handler: async (context) => {
    const { config } = await context.config();
    const models = listAllModels(config).map(async (model) => ({
      ...(await describeModel(model)),
      expires_at: NEVER,
      size_vram: 0,
      context_length: model.context ?? CONTEXT_LENGTH,
    }));
    return Response.json({ models: await Promise.all(models) });
  },
});

/** `POST /api/show`: capabilities and context length of a model. `id` is in lower case (docs/contract/generations.md). */
export const runnerShow = openEndpoint({
  method: "POST",
  path: "/api/show",
  summary: "Describe a model",
  body: lazyLooseObject(() => ({ model: z.string().nullish(), name: z.string().nullish() })),
  answers: jsonResponse(showAnswerSchema),
  handler: async (context, { body }) => {
    const name = body.model ?? body.name ?? "";
    if (name === "") throw invalidRequest("model is required", "model");
    const model = await resolveRunnerModel(context, name);
    return Response.json({
      id: name.toLowerCase(),
      model: name,
      modified_at: MODIFIED_AT,
      capabilities: getCapabilities(model),
      details: toDetails(model),
      model_info: {
        "general.architecture": ARCHITECTURE,
        "general.basename": model.id,
        [`${ARCHITECTURE}.context_length`]: model.context ?? CONTEXT_LENGTH,
      },
      license: "",
      modelfile: `FROM ${model.id}`,
      parameters: "",
      system: "",
      template: "{{ .Prompt }}",
    });
  },
});
