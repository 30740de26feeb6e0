import { selectGuardrails } from "../../core/config/guardrails.ts";
import type { Config } from "../../core/config/schema.ts";
import { toCanonicalJson } from "../../core/encoding/canonical-json.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { isObject } from "../../core/encoding/json.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { FALLBACK_HEADER } from "../../core/routing/control-headers.ts";
import { getPublicQuery } from "../../core/routing/public-query.ts";
import { VERSION } from "../../core/version.ts";
import type { GenerationRequest } from "../generation/generation-job.ts";
import type { CacheableInput } from "./answer-through-cache.ts";

const digestsByConfig = new WeakMap<Config, Promise<string>>();

/** A digest of all settings on which answers depend: a change of any of them begins a new cache. */
function digestSettings({ variables, providerBaseUrl }: Platform, config: Config): Promise<string> {
  let digest = digestsByConfig.get(config);
  if (digest === undefined) {
    const { providers, model_aliases, model_routes, unknown_models, current_input_file, thinking_injection } =
      config;
    const { providerDriver, providerModels, providerToolCalls, providerNative, providerDropParams } =
      variables;
    const ofDefaultProvider = [
      [providerDriver, providerBaseUrl, providerModels],
      [providerToolCalls, providerNative, providerDropParams],
    ];
    const ofModels = [providers, model_aliases, model_routes, unknown_models];
    digest = sha256Hex(
      JSON.stringify([VERSION, ofDefaultProvider, ofModels, current_input_file, thinking_injection]),
    );
    digestsByConfig.set(config, digest);
  }
  return digest;
}

/** Headers of a native request that choose features of the provider. */
const FEATURE_HEADER = /-(?:beta|version)$/;

function selectFeatureHeaders({ native }: GenerationRequest): [string, string][] {
  return Object.entries(native?.request.headers ?? {})
    .filter(([name]) => FEATURE_HEADER.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The key, its user and team, and the tags of the request, as far as they are configured. */
function listSubjects({ context: { quota }, caller: { key } }: GenerationRequest) {
  const subjects = [...(key?.groups ?? []).map(({ entry }) => entry), ...(quota.tagEntries ?? [])];
  return key === null ? subjects : [key.entry, ...subjects];
}

/** The body without the members on which the answer does not depend, as canonical JSON. */
function normalizeBody({ body, ignoredMembers = [] }: CacheableInput): string {
  if (!isObject(body)) return toCanonicalJson(body);
  return toCanonicalJson(
    Object.fromEntries(Object.entries(body).filter(([name]) => !ignoredMembers.includes(name))),
  );
}

/**
 * The key of a request's answer in the cache: an address on the program's own origin with a digest of the caller, the model, the
 * request, the guardrails and all settings on which the answer depends.
 */
export function createEntryKey(request: GenerationRequest, input: CacheableInput): Promise<string> {
  const { context, caller, conversation } = request;
  const { platform, url } = context;
  const { requested, id, provider, route = [] } = conversation.model;
  const subjects = listSubjects(request);
  const asked = [
    // A key that was deleted and added again has another time.
    [caller.owner, caller.key?.entry.created, subjects.map(({ cache_epoch = 0 }) => cache_epoch)],
    conversation.dialect,
    [url.pathname, getPublicQuery(url)],
    [requested, id, provider, ...route.map(({ model }) => [model.provider, model.id])],
    [subjects.map(({ models }) => models), context.request.headers.get(FALLBACK_HEADER)],
    selectFeatureHeaders(request),
    normalizeBody(input),
  ];
  const text = JSON.stringify(asked);
  return context
    .config()
    .then(async ({ config }) => [
      await digestSettings(platform, config),
      JSON.stringify(selectGuardrails(config, caller.key?.entry)),
    ])
    .then((settings) => sha256Hex(JSON.stringify([...settings, text])))
    .then((digest) => `${url.origin}/.kept/generation/${digest}`);
}
