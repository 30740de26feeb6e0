import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayUnderTest, RequestResult } from "./gateway-under-test.ts";

const PAGE = 1_000;

/** Whether the client received the complete end of a healthy answer, even if the connection broke afterwards. */
export function sawEnd({ status, text }: RequestResult): boolean {
  if (status !== 200 || /"error":\s*\{|event: (?:error|response\.failed)/.test(text)) return false;
  if (/^(?:data|event|:)/m.test(text)) return /\[DONE\]|message_stop|response\.completed/.test(text);
  return text.trimEnd().endsWith("}");
}

/** Status of each history record, by request id. */
export async function recordedRequests(site: GatewayUnderTest): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let page = 1; ; page += 1) {
    const path = `/admin/chat-history?page_size=${PAGE}&page=${page}`;
    const { items }: { items: { request_id: string; status: string }[] } = await (
      await site.admin(path)
    ).json();
    for (const { request_id, status } of items) found.set(request_id, status);
    if (items.length < PAGE) return found;
  }
}

/** Number of requests that usage counted, of one outcome or of all. */
export async function countedRequests(site: GatewayUnderTest, outcome?: string): Promise<number> {
  const filter = outcome === undefined ? "" : `&outcome=${outcome}`;
  const { totals }: { totals: { requests: number } } = await (
    await site.admin(`/admin/usage?granularity=total${filter}`)
  ).json();
  return totals.requests;
}

/** Repeats `ask` until it returns 0, for at most `milliseconds`. Resolves to the last answer. */
export async function untilZero(ask: () => Promise<number>, milliseconds: number): Promise<number> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const count = await ask();
    if (count === 0 || Date.now() > end) return count;
    await sleep(250);
  }
}
