import type { ConfigOrigin } from "./config-origin.ts";
import { type Config, configSchema } from "./schema.ts";
import type { Account } from "./schemas/account-schema.ts";

/** E-mail addresses of the sandbox accounts that a development configuration starts with. */
const SAMPLE_EMAILS = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

/** The protocol of the sandbox. */
const SANDBOX_DRIVER = "sessions";

/** A configuration, and the sample accounts that it does not have because the default provider is an engine. */
export interface AdaptedConfig {
  readonly config: Config;
  /** The e-mail addresses of these accounts. */
  readonly unusedSamples: readonly string[];
}

/** The sandbox accounts that a development configuration starts with. */
export function createSampleAccounts(): Account[] {
  return configSchema.parse({
    accounts: SAMPLE_EMAILS.map((email) => ({ email, password: "sandbox" })),
  }).accounts;
}

/**
 * Adapts the sample accounts of a development configuration to its default provider. Beside an engine with another protocol
 * than the sandbox's they are removed, as the engine does not know them. They are restored when the sandbox is used again.
 * An account that was changed is the administrator's own and stays, and a deleted one does not return.
 */
export function adaptSampleAccounts(current: AdaptedConfig, origin: ConfigOrigin): AdaptedConfig {
  // A deployment may have an account of such a name on purpose.
  if (!origin.development || origin.configJson !== null) return current;
  const isEngine = origin.providerBaseUrl !== null && origin.providerDriver !== SANDBOX_DRIVER;
  return isEngine ? removeSamples(current) : restoreSamples(current);
}

function removeSamples({ config, unusedSamples }: AdaptedConfig): AdaptedConfig {
  const samples = new Set(createSampleAccounts().map((account) => JSON.stringify(account)));
  const isSample = (account: Account) => samples.has(JSON.stringify(account));
  const removed = config.accounts.filter(isSample);
  if (removed.length === 0) return { config, unusedSamples };
  const { runtime } = config;
  const accounts = config.accounts.filter((account) => !isSample(account));
  const hasOwnAccount = accounts.some(({ provider = "" }) => provider === "");
  const { account_max_inflight: initialSlots } = configSchema.parse({}).runtime;
  // As many requests at once as with the sample accounts.
  const raisesSlots = !hasOwnAccount && runtime.account_max_inflight === initialSlots;
  return {
    config: {
      ...config,
      accounts,
      ...(raisesSlots
        ? { runtime: { ...runtime, account_max_inflight: initialSlots * SAMPLE_EMAILS.length } }
        : {}),
    },
    unusedSamples: [...new Set([...unusedSamples, ...removed.map(({ email }) => email)])],
  };
}

function restoreSamples({ config, unusedSamples }: AdaptedConfig): AdaptedConfig {
  if (unusedSamples.length === 0) return { config, unusedSamples };
  const present = new Set(config.accounts.map(({ email }) => email.toLowerCase()));
  const restored = createSampleAccounts().filter(
    ({ email }) => unusedSamples.includes(email) && !present.has(email),
  );
  return { config: { ...config, accounts: [...restored, ...config.accounts] }, unusedSamples: [] };
}
