import { decodeWebhookSecret } from "../../../core/auth/webhook-signature.ts";
import { describeHostFault } from "../../../core/config/host-syntax.ts";
import { isShortenedSecret } from "../../../core/config/marked-secrets.ts";
import type { Config } from "../../../core/config/schema.ts";
import { isDotSegment } from "../../../core/encoding/path-segment.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { FIELD_VALUE } from "../../../core/http/field-syntax.ts";

/** Control characters, and unpaired surrogates. */
const UNUSABLE_CHARACTERS = /[\p{Cc}\p{Cs}]/u;
/** A path cannot contain a longer key or name of a model, so no request could address it. */
const MAX_LENGTH = 512;

/** A text of the configuration, with the name of its field. */
type Field = readonly [field: string, text: string];

const keyFields = ({ keys, api_keys }: Config): Field[] => [
  ...keys.map((key, index): Field => [`keys[${index}]`, key]),
  ...api_keys.map(({ key }, index): Field => [`api_keys[${index}].key`, key]),
];

const nameFields = ({ accounts }: Config): Field[] =>
  accounts.flatMap((account, index) =>
    (["email", "mobile"] as const).map((field): Field => [`accounts[${index}].${field}`, account[field]]),
  );

const modelNameFields = ({ model_routes, providers }: Config): Field[] => [
  ...Object.keys(model_routes).map((name): Field => ["model_routes", name]),
  ...providers.flatMap(({ models }, index) =>
    Object.keys(models).map((name): Field => [`providers[${index}].models`, name]),
  ),
];

const providerFields = ({ providers }: Config): Field[] =>
  providers.flatMap(({ token, headers }, index): Field[] => [
    [`providers[${index}].token`, token],
    ...Object.entries(headers).map(
      ([field, value]): Field => [`providers[${index}].headers.${field}`, value],
    ),
  ]);

const tokenFields = ({ accounts }: Config): Field[] =>
  accounts.map(({ token }, index): Field => [`accounts[${index}].token`, token]);

const hostFields = ({ proxies }: Config): Field[] =>
  proxies.map(({ host }, index): Field => [`proxies[${index}].host`, host]);

const signingSecretFields = ({ alerts }: Config): Field[] =>
  alerts.webhooks.map(({ secret }, index): Field => [`alerts.webhooks[${index}].secret`, secret]);

/** Names that occur in paths. Filtered to texts of dots, because the list may be very long. */
const dotOnlyFields = (config: Config): Field[] => {
  const { accounts, proxies, providers, api_keys } = config;
  return [
    ...keyFields(config),
    ...accounts.flatMap(({ email, mobile }, index): Field[] => [
      [`accounts[${index}].email`, email],
      [`accounts[${index}].mobile`, mobile],
    ]),
    ...proxies.map(({ id }, index): Field => [`proxies[${index}].id`, id]),
    ...api_keys.map(({ id = "" }, index): Field => [`api_keys[${index}].id`, id]),
    ...providers.flatMap(({ models }, index) =>
      Object.keys(models).map((name): Field => [`providers[${index}].models`, name.trim()]),
    ),
  ].filter(([, text]) => isDotSegment(text));
};

/** Describes what is wrong with a text; null: nothing. */
type TextCheck = (text: string) => string | null;

const textFault: TextCheck = (text) =>
  UNUSABLE_CHARACTERS.test(text) ? "control characters and broken surrogate pairs are not allowed" : null;

const keyFault: TextCheck = (text) => {
  if (text.length > MAX_LENGTH) return `a key must have at most ${MAX_LENGTH} characters`;
  if (isShortenedSecret(text)) return "this is the mask of a key, not the key";
  return textFault(text);
};

const modelNameFault: TextCheck = (text) =>
  text.length > MAX_LENGTH
    ? `the name of a model must have at most ${MAX_LENGTH} characters`
    : textFault(text);

/** Requests to the provider carry tokens in a header. */
const tokenFault: TextCheck = (text) =>
  FIELD_VALUE.test(text) ? null : "must be printable ASCII, without control characters";

const secretFault: TextCheck = (text) =>
  isShortenedSecret(text) ? "this is the mask of a secret, not the secret" : tokenFault(text);

/** No message could be signed with a secret that cannot be decoded. */
const signingSecretFault: TextCheck = (text) => {
  try {
    decodeWebhookSecret(text);
    return null;
  } catch {
    return "must be whsec_ and base64";
  }
};

const segmentFault: TextCheck = (text) =>
  isDotSegment(text) ? `${JSON.stringify(text)} means something else in an address` : null;

/**
 * Rejects new values that cannot be used or deleted later: keys, names and tokens that do not fit into a header or a path,
 * masked values, secrets that are not base64, and invalid hosts. Values from before the edit are allowed.
 */
export function rejectUnusableValues(before: Config, after: Config): void {
  const checks: readonly [(config: Config) => Field[], TextCheck][] = [
    [keyFields, keyFault],
    [nameFields, textFault],
    [modelNameFields, modelNameFault],
    [providerFields, secretFault],
    [tokenFields, tokenFault],
    [hostFields, describeHostFault],
    [signingSecretFields, signingSecretFault],
    [dotOnlyFields, segmentFault],
  ];
  for (const [fields, check] of checks) {
    const unusable = fields(after).filter(([, text]) => check(text) !== null);
    if (unusable.length === 0) continue;
    const known = new Set(fields(before).map(([, text]) => text));
    const [param, text] = unusable.find(([, candidate]) => !known.has(candidate)) ?? [];
    if (param !== undefined && text !== undefined) throw invalidRequest(`${param}: ${check(text)}`, param);
  }
}
