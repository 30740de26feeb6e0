import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../gateway-under-test.ts";
import type { Part, PartInput, PartResult } from "../part.ts";
import { countedRequests, recordedRequests, sawEnd } from "../recorded-requests.ts";

/** On Workers a killed isolate loses its last two seconds (docs/contract/usage.md); the rest is tolerance for a busy machine. */
const UNTOLD_MS = { deno: 0, workers: 6_000 } as const;
const STYLES = ["chat", "messages", "responses"] as const;

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  const ends = new Map<string, number>();
  const known = new Set<string>();
  let sent = 0;
  let answered = 0;
  let wrong = 0;
  let lost = 0;
  for (let kill = 0; kill < count; kill += 1) {
    let done = false;
    const load = until(
      () => done,
      10,
      async () => {
        sent += 1;
        const id = `durability-${sent}`;
        const style = STYLES[Math.floor(random() * STYLES.length)] ?? "chat";
        const ended = await site.ask({ style, stream: random() < 0.5, id });
        if (sawEnd(ended)) ends.set(id, Date.now());
        else if (!done) wrong += 1;
      },
    );
    await sleep(UNTOLD_MS[site.runtime] + 300 + random() * 1_500);
    done = true;
    const killed = Date.now();
    for (const pid of site.gateway.processes()) process.kill(pid, "SIGKILL");
    await load;
    await site.gateway.restart();
    site.forgetSockets();
    for (const [id, at] of ends) if (at <= killed - UNTOLD_MS[site.runtime]) known.add(id);
    answered += ends.size;
    // The others may be lost: the next kill must not look for them.
    ends.clear();
    // Records are permanent, so compare them with all answers since the start.
    const records = await recordedRequests(site);
    const missing = [...known].filter((id) => records.get(id) !== "success");
    const uncounted = Math.max(0, known.size - (await countedRequests(site, "success")));
    if (missing.length + uncounted > 0) {
      console.log(`  kill ${kill + 1}: ${missing.length} not in the history, ${uncounted} not in usage`);
    }
    lost += missing.length + uncounted;
    for (const id of missing) known.delete(id);
  }
  return { wrong, lost, note: `${answered} answers whose end arrived, of ${sent} requests` };
}

/** Kills the process under load. Every answer that a client received completely must be in history and usage afterwards. */
export const durability: Part = {
  name: "durability",
  what: "kills, after which answered requests are looked for",
  full: 100,
  short: 3,
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "word ".repeat(10).trim(), eventEvery: 10 },
    records: 100_000,
  },
  run,
};
