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
  /** Protocol and address of the default provider; null: the sandbox, if there is one. */
  readonly providerDriver: string;
  readonly providerBaseUrl: string | null;
}

/** E-mail addresses of the sandbox accounts that a development configuration starts with. */
const SANDBOX_ACCOUNTS = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

/** The API key that a development configuration starts with. It is publicly known. */
export const DEVELOPMENT_API_KEY = "sk-dev";

/** The protocol of the sandbox. */
const SANDBOX_DRIVER = "sessions";

/**
 * The initial configuration of `npm start`: key `sk-dev` and three sandbox accounts. An engine with another protocol
 * has none of them: it needs no account.
 */
function createDevelopmentConfig({
  providerDriver,
  providerBaseUrl,
}: Pick<ConfigOrigin, "providerDriver" | "providerBaseUrl">): Config {
  const isEngine = providerBaseUrl !== null && providerDriver !== SANDBOX_DRIVER;
  const accounts = SANDBOX_ACCOUNTS.map((email) => ({ email, password: "sandbox" }));
  return configSchema.parse({
    api_keys: [{ key: DEVELOPMENT_API_KEY, name: "development" }],
    // As many requests at once as with the accounts of the sandbox.
    ...(isEngine ? { runtime: { account_max_inflight: 2 * accounts.length } } : { accounts }),
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
export function createInitialConfig(origin: ConfigOrigin): Config {
  const { configJson, development } = origin;
  if (configJson !== null) return parseConfigJson(configJson);
  return development ? createDevelopmentConfig(origin) : configSchema.parse({});
}
