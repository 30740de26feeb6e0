import { listSubjectEntries } from "../../core/auth/access-rules.ts";
import type { Caller } from "../../core/auth/callers.ts";
import type { Config } from "../../core/config/schema.ts";
import { selectGuardrails } from "../../core/config/select-guardrails.ts";
import type { CatalogueModel, ResolvedModel } from "../../core/conversation/model.ts";
import { toCanonicalJson } from "../../core/encoding/canonical-json.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { isObject } from "../../core/encoding/json.ts";
import { oncePer } from "../../core/encoding/once.ts";
import type { Context } from "../../core/ports/context.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { FALLBACK_HEADER } from "../../core/routing/control-headers.ts";
import { getPublicQuery } from "../../core/routing/public-query.ts";
import { VERSION } from "../../core/version.ts";
import type { GenerationRequest } from "../generation/generation-job.ts";
import type { CacheableInput } from "./answer-through-cache.ts";

/** A digest of all settings on which answers depend: a change of any of them begins a new cache. */
const digestSettings = oncePer(
  (config: Config, { variables, providerBaseUrl }: Platform): Promise<string> => {
    const { providers, model_aliases, model_routes, unknown_models, embeddings } = config;
    const { current_input_file, thinking_injection } = config;
    const { providerDriver, providerModels, providerToolCalls, providerNative, providerDropParams } =
      variables;
    const ofDefaultProvider = [
      [providerDriver, providerBaseUrl, providerModels],
      [providerToolCalls, providerNative, providerDropParams],
    ];
    const ofModels = [providers, model_aliases, model_routes, unknown_models, embeddings];
    return sha256Hex(
      JSON.stringify([VERSION, ofDefaultProvider, ofModels, current_input_file, thinking_injection]),
    );
  },
);

/** Headers of a native request that choose features of the provider. */
const FEATURE_HEADER = /-(?:beta|version)$/;

function selectFeatureHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .filter(([name]) => FEATURE_HEADER.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The body without the members on which the answer does not depend, as canonical JSON. */
function normalizeBody({ body, ignoredMembers = [] }: CacheableInput): string {
  if (!isObject(body)) return toCanonicalJson(body);
  return toCanonicalJson(
    Object.fromEntries(Object.entries(body).filter(([name]) => !ignoredMembers.includes(name))),
  );
}

/** What distinguishes the answers to a request from others. */
interface EntryParts extends CacheableInput {
  readonly context: Context;
  readonly caller: Caller;
  readonly style: string;
  readonly model: Pick<ResolvedModel, "id" | "requested" | "provider">;
  /** The models that may answer, if there are several. */
  readonly targets: readonly Pick<CatalogueModel, "id" | "provider">[];
  /** The headers that the provider gets. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The key of an answer in the cache: an address on the program's own origin with a digest of the caller, the model, the
 * request, the guardrails and all settings on which the answer depends.
 */
export function createEntryKey(parts: EntryParts): Promise<string> {
  const { context, caller, style, model, targets, headers } = parts;
  const { platform, url, request } = context;
  const subjects = listSubjectEntries(caller, context.requestLimits);
  const asked = [
    // A key that was deleted and added again has another time.
    [caller.owner, caller.key?.entry.created, subjects.map(({ cache_epoch = 0 }) => cache_epoch)],
    style,
    [url.pathname, getPublicQuery(url)],
    [model.requested, model.id, model.provider, ...targets.map(({ provider, id }) => [provider, id])],
    // The lists of models that the caller may use decide which models of a route can answer.
    [subjects.map(({ models }) => models), request.headers.get(FALLBACK_HEADER)],
    selectFeatureHeaders(headers),
    normalizeBody(parts),
  ];
  const text = JSON.stringify(asked);
  return context
    .config()
    .then(async ({ config }) => [
      await digestSettings(config, platform),
      JSON.stringify(selectGuardrails(config, () => subjects)),
    ])
    .then((settings) => sha256Hex(JSON.stringify([...settings, text])))
    .then((digest) => `${url.origin}/.kept/generation/${digest}`);
}

/** The key of the answer to a conversation. */
export function createConversationKey(request: GenerationRequest, input: CacheableInput): Promise<string> {
  const { context, caller, conversation, native } = request;
  const { model, dialect } = conversation;
  return createEntryKey({
    ...input,
    context,
    caller,
    style: dialect,
    model,
    targets: (model.route ?? []).map((target) => target.model),
    headers: native?.request.headers ?? {},
  });
}
