import { fromBase64 } from "../encoding/bytes.ts";
import { type Config, configSchema } from "./schema.ts";

/** The environment variables that the configuration depends on. */
export interface ConfigOrigin {
  /** The configuration as JSON or base64; null: use the stored one. */
  readonly configJson: string | null;
  /** Whether edits of a configuration from the environment are stored. */
  readonly configWriteback: boolean;
  /** Whether an empty configuration starts with the development key and accounts. */
  readonly development: boolean;
}

/** E-mail addresses of the sandbox accounts that a development configuration starts with. */
const SANDBOX_ACCOUNTS = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

/** The API key that a development configuration starts with. It is publicly known. */
export const DEVELOPMENT_API_KEY = "sk-dev";

/** The initial configuration of `npm start`: key `sk-dev` and three sandbox accounts. */
function createDevelopmentConfig(): Config {
  return configSchema.parse({
    api_keys: [{ key: DEVELOPMENT_API_KEY, name: "development" }],
    accounts: SANDBOX_ACCOUNTS.map((email) => ({ email, password: "sandbox" })),
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
export function createInitialConfig({ configJson, development }: ConfigOrigin): Config {
  if (configJson !== null) return parseConfigJson(configJson);
  return development ? createDevelopmentConfig() : configSchema.parse({});
}
