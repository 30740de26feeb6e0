import type { ComponentChildren } from "preact";
import type { QueueStatus } from "../../api/queue.ts";
import type { Settings } from "../../api/settings.ts";
import { readVersion } from "../../api/version.ts";
import { formatHref } from "../../routing.ts";
import { formatPlural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { describeOutage, describeTrouble, findTroublesBesideOutages } from "../providers/provider-outages.ts";

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
    <>
      The admin key is the public development default. <a href={formatHref("settings")}>Set a password</a>
    </>,
  );
  add(
    settings?.config_writable === false,
    "read-only",
    "warning",
    "The configuration comes from the environment and cannot be changed here. New account tokens are lost on restart.",
  );
  add(
    silent.length > 0,
    "silent",
    "warning",
    `${silent.length === 1 ? "An account pool does" : `${silent.length} account pools do`} not answer (${silent.join(", ")}). Their accounts are missing from the numbers and lists here.`,
  );
  for (const { provider, model, reason } of queue?.outages ?? []) {
    add(
      true,
      `outage ${provider} ${model}`,
      "warning",
      <>
        {describeOutage(provider, model)}: {reason}. One request at a time tests whether it has recovered.{" "}
        <a href={formatHref("providers")}>Show providers</a>
      </>,
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
        {last_error ? `: ${last_error.reason}` : ""}. <a href={formatHref("providers")}>Show providers</a>
      </>,
    );
  }
  add(
    cooling > 0,
    "cooling",
    "warning",
    <>
      {formatPlural(cooling, "account is", "accounts are")} in cooldown after failures and{" "}
      {cooling === 1 ? "is" : "are"} skipped until it ends. <a href={formatHref("accounts")}>Show accounts</a>
    </>,
  );
  add(
    settings?.callers.unknown_keys_warning,
    "open",
    "warning",
    <>
      The gateway accepts any API key: it passes unknown keys to the provider and has no credential of its
      own, so the provider probably checks none. <a href={formatHref("settings")}>Refuse unknown keys</a>
    </>,
  );
  add(
    settings?.api_keys === 0,
    "keys",
    "warning",
    <>
      {settings?.callers.unknown_keys_in_force === "refuse"
        ? "There is no API key and unknown keys are refused: every request fails."
        : "There is no API key. Only tokens of the provider are accepted."}{" "}
      <a href={formatHref("keys")}>Add a key</a>
    </>,
  );
  add(
    settings?.needs_hosting_sync,
    "sync",
    "info",
    <>
      The configuration has changed since the last hosting sync.{" "}
      <a href={formatHref("hosting")}>Hosting sync</a>
    </>,
  );
  add(
    version?.has_update,
    "update",
    "info",
    <>
      Version {version?.latest_version} is available; this is {version?.current_version}.{" "}
      {version?.release_url && /^https?:/i.test(version.release_url) && (
        <a href={version.release_url} rel="noreferrer" target="_blank">
          Release notes
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
