import type { ComponentChildren } from "preact";
import type { QueueStatus } from "../../api/queue.ts";
import type { Settings } from "../../api/settings.ts";
import { readVersion } from "../../api/version.ts";
import { formatHref } from "../../routing.ts";
import { describeOutage, describeTrouble, findTroublesBesideOutages } from "../../shared/provider-outages.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface Warning {
  readonly id: string;
  readonly kind: "warning" | "info";
  readonly text: ComponentChildren;
}

interface WarningsProps {
  readonly queue: QueueStatus | null;
  readonly settings: Settings | null;
}

/** Warnings for the operator. Renders nothing if there are none. */
export function Warnings({ queue, settings }: WarningsProps) {
  const version = useLoaded(readVersion).data;
  const cooling = queue?.cooling ?? 0;
  const silent = queue?.silent_shards ?? [];
  const warnings: Warning[] = [];
  const add = (
    condition: boolean | undefined,
    id: string,
    kind: Warning["kind"],
    text: ComponentChildren,
  ) => {
    if (condition) warnings.push({ id, kind, text });
  };
  add(
    settings?.admin.default_password_warning,
    "password",
    "warning",
    texts.publicAdminKeyWarning(<a href={formatHref("settings")}>{texts.setPassword}</a>),
  );
  add(settings?.config_writable === false, "read-only", "warning", texts.readOnlyConfigurationWarning);
  add(silent.length > 0, "silent", "warning", texts.poolsDoNotAnswer(silent));
  for (const { provider, model, reason } of queue?.outages ?? []) {
    add(
      true,
      `outage ${provider} ${model}`,
      "warning",
      texts.providerProbeNotice(
        describeOutage(provider, model),
        reason,
        <a href={formatHref("providers")}>{texts.showProviders}</a>,
      ),
    );
  }
  for (const trouble of queue === null ? [] : findTroublesBesideOutages(queue)) {
    const { provider, health, last_error } = trouble;
    add(
      true,
      `trouble ${provider}`,
      health === "down" ? "warning" : "info",
      <>
        {describeTrouble(trouble)}
        {last_error ? `: ${last_error.reason.replace(/\.$/, "")}` : ""}.{" "}
        <a href={formatHref("providers")}>{texts.showProviders}</a>
      </>,
    );
  }
  add(
    cooling > 0,
    "cooling",
    "warning",
    texts.accountsInCooldown(cooling, <a href={formatHref("accounts")}>{texts.showAccounts}</a>),
  );
  add(
    settings?.callers.unknown_keys_warning,
    "open",
    "warning",
    texts.gatewayAcceptsAnyApiKey(<a href={formatHref("settings")}>{texts.refuseUnknownKeys}</a>),
  );
  add(
    settings?.callers.development_key_warning,
    "development key",
    "warning",
    texts.acceptsDevelopmentKey(<a href={formatHref("keys")}>{texts.deleteKey}</a>),
  );
  add(
    settings?.api_keys === 0,
    "keys",
    "warning",
    <>
      {settings?.callers.unknown_keys_in_force === "refuse"
        ? texts.everyRequestFailsWarning
        : texts.onlyProviderTokensWarning}{" "}
      <a href={formatHref("keys")}>{texts.addKey}</a>
    </>,
  );
  add(
    settings?.needs_hosting_sync,
    "sync",
    "info",
    texts.hostingSyncNeeded(<a href={formatHref("hosting")}>{words.hostingSync}</a>),
  );
  add(
    version?.has_update,
    "update",
    "info",
    <>
      {texts.versionAvailable(version?.latest_version, version?.current_version)}{" "}
      {version?.release_url && /^https?:/i.test(version.release_url) && (
        <a href={version.release_url} rel="noreferrer" target="_blank">
          {texts.releaseNotes}
        </a>
      )}
    </>,
  );
  if (warnings.length === 0) return null;
  return (
    <div class="warnings">
      {warnings.map(({ id, kind, text }) => (
        <Notice key={id} kind={kind}>
          {text}
        </Notice>
      ))}
    </div>
  );
}
