import { DEFAULT_PROVIDER } from "../../../../core/config/provider-id.ts";
import { listProviders, type ProviderView } from "../../api/providers.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { texts } from "./texts.ts";

/** Driver of the sandbox, and the hosts at which it runs. */
const SANDBOX_DRIVER = "sessions";
const SANDBOX_ADDRESS = /^http:\/\/(?:sandbox|127\.0\.0\.1|localhost|\[::1\])(?:[:/]|$)/;

/** Whether a model is served by the sandbox: the default provider of development. */
function isServedBySandbox(
  model: string,
  providers: readonly Pick<ProviderView, "id" | "driver" | "base_url">[],
): boolean {
  if (model.includes("/")) return false;
  return providers.some(
    ({ id, driver, base_url }) =>
      id === DEFAULT_PROVIDER && driver === SANDBOX_DRIVER && SANDBOX_ADDRESS.test(base_url),
  );
}

/** Says what the sandbox does with messages; empty for a model of another provider. */
export function useSandboxHint(model: string): string {
  const { data } = useLoaded(listProviders);
  return isServedBySandbox(model, data ?? []) ? texts.developmentProviderHint : "";
}
