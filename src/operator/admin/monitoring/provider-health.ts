import * as z from "zod";
import { DEFAULT_PROVIDER, toProviderId } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import {
  PROVIDER_HEALTHS,
  type ProviderHealthView,
  type QueueStatus,
} from "../../../core/ports/account-status.ts";
import type { Platform } from "../../../core/ports/platform.ts";

/** The health of a provider. */
export const providerHealthSchema = () =>
  z.object({
    health: z.enum(PROVIDER_HEALTHS),
    /** The last failure, `at` in Unix milliseconds; null: none for ten minutes. */
    last_error: z.object({ reason: z.string(), at: z.int() }).nullable(),
  });

/** The health of a provider, from the pool's status. */
export function readProviderHealth({ troubles = [] }: QueueStatus, id: string): ProviderHealthView {
  const trouble = troubles.find(({ provider }) => toProviderId(provider) === id);
  return { health: trouble?.health ?? "healthy", last_error: trouble?.last_error ?? null };
}

/** Ids of the providers that requests may go to, the default one first. */
export function listActiveProviders(
  { providerBaseUrl }: Pick<Platform, "providerBaseUrl">,
  { providers }: Pick<Config, "providers">,
): string[] {
  const configured = providers.filter(({ enabled }) => enabled).map(({ id }) => id);
  return providerBaseUrl === null ? configured : [DEFAULT_PROVIDER, ...configured];
}
