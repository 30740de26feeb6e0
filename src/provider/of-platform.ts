import type { Platform } from "../platform/platform.ts";
import { createProvider } from "./create.ts";
import type { Provider } from "./provider.ts";

const providers = new WeakMap<Platform, Provider>();

/** The platform's provider driver, made once; null when the deployment names no provider. */
export function providerOf(platform: Platform): Provider | null {
  if (platform.providerBaseUrl === null) return null;
  let provider = providers.get(platform);
  if (provider === undefined) {
    const { settings } = platform;
    provider = createProvider({
      kind: settings.providerDriver,
      baseUrl: platform.providerBaseUrl,
      token: settings.providerToken,
      models: settings.providerModels,
      toolCalls: settings.providerToolCalls,
    });
    providers.set(platform, provider);
  }
  return provider;
}
