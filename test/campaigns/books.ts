import { setTimeout as sleep } from "node:timers/promises";
import type { Ended, Site } from "./site.ts";

const PAGE = 1_000;

/** Whether the client saw the end of a healthy answer, also when the connection broke after it. */
export function sawEnd({ status, text }: Ended): boolean {
  if (status !== 200 || /"error":\s*\{|event: (?:error|response\.failed)/.test(text)) return false;
  if (/^(?:data|event|:)/m.test(text)) return /\[DONE\]|message_stop|response\.completed/.test(text);
  return text.trimEnd().endsWith("}");
}

/** The status of each record in the history, by the id of its request. */
export async function recordedRequests(site: Site): Promise<Map<string, string>> {
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

/** How many requests usage counted, of one outcome or of all. */
export async function countedRequests(site: Site, outcome?: string): Promise<number> {
  const filter = outcome === undefined ? "" : `&outcome=${outcome}`;
  const { totals }: { totals: { requests: number } } = await (
    await site.admin(`/admin/usage?granularity=total${filter}`)
  ).json();
  return totals.requests;
}

/** Asks again until the answer is 0, for `milliseconds` at most. Resolves to the last answer. */
export async function untilZero(ask: () => Promise<number>, milliseconds: number): Promise<number> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const count = await ask();
    if (count === 0 || Date.now() > end) return count;
    await sleep(250);
  }
}
