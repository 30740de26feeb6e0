import * as z from "zod";
import type { CatalogueModel, ResolvedModel } from "../../conversation/model.ts";
import { sha256Hex } from "../../encoding/hash.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { byNames, type UsageLabels } from "../../models/by-names.ts";
import { CATALOGUE_CREATED, CONTEXT_LENGTH, visionModel } from "../../models/catalogue.ts";
import { listedModels, modelAtPath } from "../../models/resolve.ts";
import type { Context } from "../../platform/context.ts";
import { json, open } from "../../routing/endpoint.ts";
import { VERSION } from "../../version.ts";
import { runningSchema, showAnswerSchema, tagsSchema } from "./answers.ts";
import { ID } from "./names.ts";

const MODIFIED_AT = new Date(CATALOGUE_CREATED * 1000).toISOString();

/** When a model that stays loaded is unloaded. */
const NEVER = "9999-12-31T23:59:59Z";

/** `general.architecture`, and the prefix of what belongs to it in `model_info`. */
const ARCHITECTURE = "provider";

/** The tag that clients append to a name that has none. */
const DEFAULT_TAG = ":latest";

/**
 * Resolves a model name of this style, with or without its tag.
 *
 * @param operation what usage counts a request for an unknown model as; absent: usage does not count it
 * @throws GatewayError 404 for a name that stands for nothing, as this style's clients expect.
 */
export async function resolveRunnerModel(
  context: Context,
  name: string,
  operation?: UsageLabels["operation"],
): Promise<ResolvedModel> {
  const bare = name.endsWith(DEFAULT_TAG) ? name.slice(0, -DEFAULT_TAG.length) : name;
  const usage = operation === undefined ? undefined : { dialect: ID, operation };
  const model = await byNames(context, bare, modelAtPath, usage);
  return { ...model, requested: name };
}

/** What a model can do, in this style's words (contract, Local-model-runner style). Images may go to one that sees them. */
export function capabilities(model: CatalogueModel): string[] {
  return [
    "completion",
    "tools",
    ...(model.thinking ? ["thinking"] : []),
    ...(seesImages(model) ? ["vision"] : []),
  ];
}

function seesImages(model: CatalogueModel): boolean {
  return model.provider === undefined
    ? visionModel(model).vision
    : model.vision || model.sighted !== undefined;
}

function details(model: CatalogueModel): Record<string, unknown> {
  return {
    parent_model: "",
    format: "remote",
    family: ARCHITECTURE,
    families: [ARCHITECTURE],
    parameter_size: model.upstream,
    quantization_level: "",
  };
}

/** A name for a model's present state; clients only compare it. */
function digest(model: CatalogueModel): Promise<string> {
  return sha256Hex(`${VERSION} ${model.id}`);
}

/** `GET /api/version`. */
export const runnerVersion = open({
  method: "GET",
  path: "/api/version",
  summary: "Version of the runner API",
  answers: json(() => z.object({ version: z.string() })),
  handler: () => Response.json({ version: VERSION }),
});

async function described(model: CatalogueModel) {
  return { name: model.id, model: model.id, size: 0, digest: await digest(model), details: details(model) };
}

/** `GET /api/tags`: the canonical models, then those of configured providers and the names of routes. Nothing is kept on a disk here, so their size is 0. */
export const runnerTags = open({
  method: "GET",
  path: "/api/tags",
  summary: "List the models",
  answers: json(tagsSchema),
  handler: async (context) => {
    const { config } = await context.config();
    const models = listedModels(config).map(async (model) => ({
      ...(await described(model)),
      modified_at: MODIFIED_AT,
      capabilities: capabilities(model),
    }));
    return Response.json({ models: await Promise.all(models) });
  },
});

/** `GET /api/ps`: the models that are ready. All of them are at any time, and none takes memory here. */
export const runnerRunning = open({
  method: "GET",
  path: "/api/ps",
  summary: "List the models that are loaded",
  answers: json(runningSchema),
  handler: async (context) => {
    const { config } = await context.config();
    const models = listedModels(config).map(async (model) => ({
      ...(await described(model)),
      expires_at: NEVER,
      size_vram: 0,
      context_length: model.context ?? CONTEXT_LENGTH,
    }));
    return Response.json({ models: await Promise.all(models) });
  },
});

/** `POST /api/show`: what a model can do and how much it can read; `id` is in lower case (contract). */
export const runnerShow = open({
  method: "POST",
  path: "/api/show",
  summary: "Describe a model",
  body: lazyLooseObject(() => ({ model: z.string().nullish(), name: z.string().nullish() })),
  answers: json(showAnswerSchema),
  handler: async (context, { body }) => {
    const name = body.model ?? body.name ?? "";
    if (name === "") throw invalidRequest("model is required", "model");
    const model = await resolveRunnerModel(context, name);
    return Response.json({
      id: name.toLowerCase(),
      model: name,
      modified_at: MODIFIED_AT,
      capabilities: capabilities(model),
      details: details(model),
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
