import { setTimeout as sleep } from "node:timers/promises";
import { type DiskFault, fullDatabase, fullDisk, lockedDatabase } from "../disk-faults.ts";
import { ending, type GatewayUnderTest, until } from "../gateway-under-test.ts";
import type { Part, PartInput, PartResult } from "../part.ts";
import { countedRequests, recordedRequests, sawEnd, untilZero } from "../recorded-requests.ts";

/** Maximum time until answers, history and usage are correct after a fault, in milliseconds. */
const RECOVERY_MS = 30_000;
const STYLES = ["chat", "messages", "responses"] as const;

/** Data that the program has confirmed. */
class Promised {
  /** Requests whose complete answer arrived. */
  readonly requests = new Set<string>();
  /** Stored responses that were not verified yet. */
  readonly responses = new Set<string>();
  readonly keys = new Set<string>();

  /** Waits until all confirmed data is present. Drops missing data and resolves to its amount. */
  async missing(site: GatewayUnderTest): Promise<number> {
    const uncounted = async () => Math.max(0, this.requests.size - (await countedRequests(site, "success")));
    let unknown: string[] = [];
    const unrecorded = async () => {
      const records = await recordedRequests(site);
      unknown = [...this.requests].filter((id) => records.get(id) !== "success");
      return unknown.length;
    };
    const counts = {
      requests: await untilZero(unrecorded, RECOVERY_MS),
      usage: await untilZero(uncounted, RECOVERY_MS),
      responses: await this.#missingResponses(site),
      keys: await this.#missingKeys(site),
    };
    const sum = Object.values(counts).reduce((total, count) => total + count, 0);
    if (sum > 0) console.log(`  lost: ${JSON.stringify(counts)}`);
    for (const id of unknown) this.requests.delete(id);
    this.responses.clear();
    return sum;
  }

  async #missingResponses({ gateway }: GatewayUnderTest): Promise<number> {
    let missing = 0;
    for (const id of this.responses) {
      const headers = { authorization: "Bearer sk-dev" };
      const answer = await fetch(`${gateway.url}/v1/responses/${id}`, { headers });
      await answer.text();
      if (answer.status !== 200) missing += 1;
    }
    return missing;
  }

  async #missingKeys(site: GatewayUnderTest): Promise<number> {
    const config = await (await site.admin("/admin/config/export")).text();
    return [...this.keys].filter((key) => !config.includes(`"${key}"`)).length;
  }
}

/** The write faults that are possible here. */
function faultsOf({ disk }: GatewayUnderTest): DiskFault[] {
  if (disk === null) throw new Error("This part needs a disk of its own.");
  return [...(disk.isMounted ? [fullDisk(disk)] : []), fullDatabase, lockedDatabase(disk.path)];
}

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  const faults = faultsOf(site);
  const promised = new Promised();
  let sent = 0;
  let wrong = 0;
  let lost = 0;
  let refused = 0;
  // Number of started and of ended faults. While they differ, writes fail.
  let begun = 0;
  let over = 0;
  const ask = async () => {
    sent += 1;
    const from = over;
    const id = `disks-${sent}`;
    const style = STYLES[Math.floor(random() * STYLES.length)] ?? "chat";
    const ended = await site.ask({ style, stream: random() < 0.5, id });
    const isWritable = from === begun;
    const how = ending(ended);
    // Requests that need the database get an internal error. No answer breaks off.
    const isTold = !isWritable && ended.status === 500 && ended.text.includes("internal error (request ");
    if (how === "wrong" && !isTold) {
      wrong += 1;
      console.log(`  wrong: ${ended.status}${ended.broken ? ", broken off" : ""} ${ended.text.slice(-300)}`);
    } else if (how !== "whole") {
      refused += 1;
      await sleep(20);
    }
    if (!sawEnd(ended)) return false;
    promised.requests.add(id);
    // A response that could not be stored is still answered, and the log says so.
    const stored =
      style === "responses" && isWritable ? /"id":\s*"(resp_[^"]+)"/.exec(ended.text)?.[1] : undefined;
    if (stored !== undefined) promised.responses.add(stored);
    return true;
  };
  const edit = async (n: number) => {
    const key = `sk-disks-${n}`;
    const answer = await site.admin("/admin/keys", "POST", { key });
    const text = await answer.text();
    if (answer.ok) promised.keys.add(key);
    else if (!text.includes("internal error (request ")) {
      wrong += 1;
      console.log(`  wrong: ${answer.status} ${text.slice(0, 300)}`);
    }
  };
  for (let n = 0; n < count; n += 1) {
    const fault = faults[n % faults.length];
    if (fault === undefined) continue;
    let done = false;
    const load = until(
      () => done,
      8,
      async () => void (await ask()),
    );
    await sleep(random() * 300);
    begun += 1;
    const end = await fault(site.gateway.url);
    try {
      await edit(n);
      await sleep(200 + random() * 1_000);
    } finally {
      await end();
      over += 1;
    }
    await sleep(random() * 300);
    done = true;
    await load;
    // Generations must continue without a restart.
    const isWell = async () => ((await ask()) ? 0 : 1);
    wrong += await untilZero(isWell, RECOVERY_MS);
    lost += await promised.missing(site);
  }
  await site.gateway.restart();
  site.forgetSockets();
  lost += await promised.missing(site);
  const kinds = faults.length === 3 ? "" : " (no file system may be mounted here)";
  const { requests, keys } = promised;
  return { wrong, lost, note: `${requests.size} answers, ${refused} failures, ${keys.size} edits${kinds}` };
}

/**
 * Temporary full disk, limited database size, and a write lock of another program: the gateway keeps serving, and confirmed
 * data stays stored.
 */
export const disks: Part = {
  name: "disks",
  what: "times that nothing can be written for a while",
  full: 100,
  short: 6,
  runtimes: ["deno"],
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "word ".repeat(10).trim(), eventEvery: 5 },
    records: 20_000,
    diskMegabytes: 64,
    vars: { GATEWAY_CONFIG_WRITEBACK: "true" },
  },
  run,
};
