import type { ProxyTest } from "../../api/proxies.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** Shows the result of a proxy test. */
export function ProxyOutcome({ test }: { readonly test: ProxyTest | "running" | undefined }) {
  if (test === undefined) return <span class="muted">{texts.notTested}</span>;
  if (test === "running") return <Badge tone="live">{texts.testing}</Badge>;
  if (test.success) {
    return (
      <>
        <Badge tone="good">{formatDuration(test.latency_ms)}</Badge> <span class="muted">{test.message}</span>
      </>
    );
  }
  return (
    <>
      <Badge tone="bad">{words.failed}</Badge> <span class="muted">{test.message}</span>
    </>
  );
}
