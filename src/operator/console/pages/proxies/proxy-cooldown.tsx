import { Badge } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format.ts";
import type { CoolingProxy } from "./cooling-proxies.ts";

/** Shows a proxy's cooldown. */
export function ProxyCooldown({ cooldown }: { readonly cooldown: CoolingProxy | undefined }) {
  if (cooldown === undefined) return <span class="muted">Healthy</span>;
  const { reason, until, accounts } = cooldown;
  const title = `${reason}\nPassed over with it: ${accounts.join(", ")}`;
  return (
    <>
      <Badge tone="warn" title={title}>
        cools down, {formatDuration(Math.max(0, until - Date.now()))}
      </Badge>
      <span class="muted cut" title={title}>
        {reason}
      </span>
    </>
  );
}
