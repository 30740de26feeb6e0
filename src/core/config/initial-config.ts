import { fromBase64 } from "../encoding/bytes.ts";
import type { ConfigOrigin } from "./config-origin.ts";
import { type AdaptedConfig, adaptSampleAccounts, createSampleAccounts } from "./sample-accounts.ts";
import { type Config, configSchema } from "./schema.ts";

/** The API key that a development configuration starts with. It is publicly known. */
export const DEVELOPMENT_API_KEY = "sk-dev";

/** The initial configuration of `npm start`: key `sk-dev` and the sandbox's sample accounts. */
function createDevelopmentConfig(): Config {
  return configSchema.parse({
    api_keys: [{ key: DEVELOPMENT_API_KEY, name: "development" }],
    accounts: createSampleAccounts(),
  });
}

function decodeJson(source: string): unknown {
  return JSON.parse(source.startsWith("{") ? source : new TextDecoder().decode(fromBase64(source)));
}

/** Decodes `GATEWAY_CONFIG_JSON`: JSON or base64. Throws an error that describes the fault. */
function parseConfigJson(source: string): Config {
  return configSchema.parse(decodeJson(source));
}

/** Describes the fault of a `GATEWAY_CONFIG_JSON` without its secrets; null if it is valid. */
export function describeConfigJsonFault(source: string): string | null {
  let value: unknown;
  try {
    value = decodeJson(source);
  } catch {
    return "it is neither";
  }
  const [issue] = configSchema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? null : [issue.path.join("."), issue.message].filter(Boolean).join(": ");
}

/** The configuration before the first edit. */
export function createInitialConfig(origin: ConfigOrigin): AdaptedConfig {
  const { configJson, development } = origin;
  const unusedSamples: string[] = [];
  if (configJson !== null) return { config: parseConfigJson(configJson), unusedSamples };
  if (!development) return { config: configSchema.parse({}), unusedSamples };
  return adaptSampleAccounts({ config: createDevelopmentConfig(), unusedSamples }, origin);
}
