import { Badge } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format.ts";
import type { CoolingProxy } from "./cooling-proxies.ts";
import { texts } from "./texts.ts";

/** Shows a proxy's cooldown. */
export function ProxyCooldown({ cooldown }: { readonly cooldown: CoolingProxy | undefined }) {
  if (cooldown === undefined) return <span class="muted">{texts.healthy}</span>;
  const { reason, until, accounts } = cooldown;
  const title = texts.skippedWith(reason, accounts.join(", "));
  return (
    <>
      <Badge tone="warn" title={title}>
        {texts.coolsDown(formatDuration(Math.max(0, until - Date.now())))}
      </Badge>
      <span class="muted cut" title={title}>
        {reason}
      </span>
    </>
  );
}
