import type { ProviderView } from "../../api/providers.ts";
import { DRIVERS } from "./provider-draft.ts";

/** The driver whose accounts sign in: the others work with the provider's own key, or without any. */
const SIGN_IN_DRIVER = "sessions";

/** Whether the default provider answers requests although it has no account. Earlier names of drivers count as unknown. */
export function needsNoAccount({ driver, read_only }: Pick<ProviderView, "driver" | "read_only">): boolean {
  return read_only && driver !== SIGN_IN_DRIVER && DRIVERS.some(([name]) => name === driver);
}
