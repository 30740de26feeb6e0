import { readModelRoute } from "../../../core/config/model-route.ts";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import { withAllEnabled } from "../../../core/config/provider-models.ts";
import type { Config } from "../../../core/config/schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { getConfiguredRoute } from "../../../gateway/models/configured-models.ts";
import { askWhetherMeant, suggestModelNames } from "../../../gateway/models/explain-unknown-model.ts";
import { findNamedModel, isResolvable } from "../../../gateway/models/resolve-model.ts";
import { DRIVER_NAMES, findDriver } from "../../../gateway/providers/drivers.ts";

/** How many known names an error lists. */
const MAX_LISTED = 10;

/** What an error says of a reference to something that does not exist: also what there is. */
function describeMissing(kind: string, to: string, known: ReadonlySet<string>): string {
  const names = [...known].filter((name) => name !== "");
  const listed = names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", …" : "");
  const there =
    names.length === 0 ? "there is none yet" : `there ${names.length === 1 ? "is" : "are"} ${listed}`;
  return `the ${kind} ${JSON.stringify(to)} does not exist: ${there}`;
}

/** A reference from one part of the configuration to another. */
interface Reference {
  /** Its field, as errors name it. */
  readonly param: string;
  readonly to: string;
}

/** One kind of reference. `fault` describes a broken reference; null: the reference is valid. */
interface ReferenceKind {
  readonly references: (config: Config) => Reference[];
  readonly fault: (config: Config) => (to: string) => string | null;
}

const PROXY_REFERENCES: ReferenceKind = {
  references: ({ accounts, providers }) => [
    ...accounts.map(({ proxy_id }, index) => ({ param: `accounts[${index}].proxy_id`, to: proxy_id })),
    ...providers.map(({ proxy_id }, index) => ({ param: `providers[${index}].proxy_id`, to: proxy_id })),
  ],
  fault: ({ proxies }) => {
    const known = new Set(["", ...proxies.map(({ id }) => id)]);
    return (to) => (known.has(to) ? null : describeMissing("proxy", to, known));
  },
};

/** The references of keys to their teams or users. */
const createKeyReferences = (field: "team" | "user", list: "teams" | "users"): ReferenceKind => ({
  references: (config) =>
    config.api_keys.map((key, index) => ({ param: `api_keys[${index}].${field}`, to: key[field] ?? "" })),
  fault: (config) => {
    const known = new Set(["", ...config[list].map(({ id }) => id)]);
    return (to) => (known.has(to) ? null : describeMissing(field, to, known));
  },
});

const PROVIDER_REFERENCES: ReferenceKind = {
  references: ({ accounts }) =>
    accounts.map(({ provider = "" }, index) => ({ param: `accounts[${index}].provider`, to: provider })),
  fault: ({ providers }) => {
    const known = new Set(["", ...providers.map(({ id }) => id)]);
    return (to) => (known.has(to) ? null : describeMissing("provider", to, known));
  },
};

const UNKNOWN_MODEL_REFERENCES: ReferenceKind = {
  references: ({ unknown_models: { provider } }) => [{ param: "unknown_models.provider", to: provider }],
  fault: ({ providers }) => {
    const known = new Set(["", DEFAULT_PROVIDER, ...providers.map(({ id }) => id)]);
    return (to) => (known.has(to) ? null : describeMissing("provider", to, known));
  },
};

const DRIVER_REFERENCES: ReferenceKind = {
  references: ({ providers }) =>
    providers.map(({ driver }, index) => ({ param: `providers[${index}].driver`, to: driver })),
  fault: () => (to) =>
    findDriver(to) !== undefined
      ? null
      : `${JSON.stringify(to)} is no driver: there are ${DRIVER_NAMES.join(", ")}`,
};

/** Asks whether another model was meant. A route does not lead to itself, so names of routes are not suggested. */
function suggest(name: string, { providers }: Config): string {
  return askWhetherMeant(suggestModelNames(name, { providers }));
}

const ALIAS_REFERENCES: ReferenceKind = {
  references: ({ model_aliases }) =>
    Object.entries(model_aliases).map(([name, to]) => ({ param: `model_aliases.${name}`, to })),
  // A target that is switched off is valid, because it may be switched on again.
  fault: (config) => {
    const providers = withAllEnabled(config.providers);
    return (to) =>
      findNamedModel(to, { providers }) === undefined && getConfiguredRoute(to, config) === undefined
        ? `${JSON.stringify(to)} is not a canonical model, provider/model or route${suggest(to, config)}`
        : null;
  },
};

const ROUTE_REFERENCES: ReferenceKind = {
  references: ({ model_routes }) =>
    Object.entries(model_routes).flatMap(([name, route]) =>
      readModelRoute(route).models.map((target, index) => ({
        param: Array.isArray(route)
          ? `model_routes.${name}[${index}]`
          : `model_routes.${name}.models[${index}]`,
        to: typeof target === "string" ? target : target.model,
      })),
    ),
  fault: (config) => {
    const providers = withAllEnabled(config.providers);
    const names = { model_aliases: config.model_aliases, providers };
    return (to) =>
      isResolvable(to, names) ? null : `${JSON.stringify(to)} is no model${suggest(to, config)}`;
  },
};

const GUARDRAIL_REFERENCES: ReferenceKind = {
  references: (config) =>
    (["api_keys", "teams", "users", "tags"] as const).flatMap((list) =>
      config[list].flatMap(({ guardrails = [] }, index) =>
        guardrails.map((to) => ({ param: `${list}[${index}].guardrails`, to })),
      ),
    ),
  fault: ({ guardrails: { rules } }) => {
    const known = new Set(rules.map(({ id }) => id));
    return (to) => (known.has(to) ? null : describeMissing("guardrail", to, known));
  },
};

/**
 * Rejects new references to things that do not exist. Otherwise an account with an unknown proxy would connect without one,
 * an account with an unknown provider would send its token to another provider, and requests for a broken alias would fail.
 * References that were already broken before the edit are allowed.
 *
 * @throws GatewayError 400 that names the field.
 */
export function assertReferences(before: Config, after: Config): void {
  for (const { references, fault } of [
    createKeyReferences("team", "teams"),
    createKeyReferences("user", "users"),
    PROXY_REFERENCES,
    PROVIDER_REFERENCES,
    UNKNOWN_MODEL_REFERENCES,
    DRIVER_REFERENCES,
    ALIAS_REFERENCES,
    ROUTE_REFERENCES,
    GUARDRAIL_REFERENCES,
  ]) {
    const findFault = fault(after);
    const broken = references(after).filter(({ to }) => findFault(to) !== null);
    if (broken.length === 0) continue;
    const findOldFault = fault(before);
    const alreadyBroken = new Set(
      references(before).flatMap(({ to }) => (findOldFault(to) === null ? [] : [to])),
    );
    const [rejected] = broken.filter(({ to }) => !alreadyBroken.has(to));
    if (rejected !== undefined)
      throw invalidRequest(`${rejected.param}: ${findFault(rejected.to)}`, rejected.param);
  }
}
