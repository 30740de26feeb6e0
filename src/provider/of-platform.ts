import { GatewayError } from "../errors/gateway-error.ts";
import type { Platform } from "../platform/platform.ts";
import { driverNamed } from "./drivers.ts";
import type { Provider } from "./provider.ts";

const providers = new WeakMap<Platform, Provider>();

/** The platform's provider, made once; null when the deployment names none. */
export function configuredProvider(platform: Platform): Provider | null {
  if (platform.providerBaseUrl === null) return null;
  let provider = providers.get(platform);
  if (provider === undefined) {
    const { variables, providerBaseUrl } = platform;
    provider = driverNamed(variables.providerDriver).create({
      baseUrl: providerBaseUrl,
      token: variables.providerToken,
      models: variables.providerModels,
      toolCalls: variables.providerToolCalls,
      wholeAnswers: variables.providerWholeAnswers,
      newId: () => crypto.randomUUID(),
      sleep,
    });
    providers.set(platform, provider);
  }
  return provider;
}

/** The same for a request that needs one. Throws 503. */
export function providerOf(platform: Platform): Provider {
  const provider = configuredProvider(platform);
  if (provider !== null) return provider;
  throw new GatewayError(503, "no provider is configured: set PROVIDER_BASE_URL", {
    code: "upstream_unavailable",
  });
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
