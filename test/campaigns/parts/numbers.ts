import { eventBlocks, type Plan } from "../../support/fault-body.ts";
import { wholeAnswer } from "../../support/whole-answers.ts";
import { ending, type GatewayUnderTest } from "../gateway-under-test.ts";
import type { Part, PartInput, PartResult } from "../part.ts";
import { countedRequests, untilZero } from "../recorded-requests.ts";

/** JSON values that an upstream may send instead of a number. `JSON.parse` reads `2e308` as infinity. */
const STATED = [
  ...["9007199254740992", "9007199254740993", "9223372036854775807", "18446744073709551616"],
  ...["1e15", "1e300", "1e308", "2e308", "-2e308", "-1", "-0", "-9007199254740993", "0.5", "1e-320"],
  ...['"7"', '"1e999"', '"NaN"', "null", "true", "[]", "{}", '""'],
];

const KEYS = [
  { key: "sk-numbers-minute", id: "numbers_minute", limits: { tokens_per_minute: 100_000 } },
  { key: "sk-numbers-day", id: "numbers_day", limits: { tokens_per_day: 1_000_000 } },
  { key: "sk-numbers-cost", id: "numbers_cost", limits: { cost_per_month: 10 } },
  { key: "sk-numbers-parallel", id: "numbers_parallel", limits: { max_parallel: 50 } },
];

/** All endpoints that show numbers. */
const VIEWS = [
  "/admin/usage?granularity=total&group_by=key,model",
  "/admin/usage?granularity=hour",
  "/admin/usage?format=csv",
  "/admin/keys",
  "/admin/metrics",
  "/admin/activity",
  "/admin/queue/status",
  "/admin/chat-history",
  "/admin/accounts",
  "/admin/config",
];
const BOOKED_MS = 10_000;

/** An answer whose usage is `stated`, with headers that say the same. */
function planOf(stream: boolean, stated: string): Plan {
  const blocks = eventBlocks("chat-completions", { text: "a few words" });
  const healthy = stream ? blocks.join("") : wholeAnswer("chat-completions", blocks);
  const body = healthy
    .replace(/"(prompt|completion|total)_tokens":\d+/g, `"$1_tokens":${stated}`)
    .replace(
      '"usage":{',
      `"usage":{"completion_tokens_details":{"reasoning_tokens":${stated}},"prompt_tokens_details":{"cached_tokens":${stated}},`,
    )
    .replace(/"created":\d+/g, `"created":${stated}`);
  const contentType = stream ? "text/event-stream" : "application/json";
  const text = stated.replaceAll('"', "");
  const headers = { "retry-after": text, "x-ratelimit-remaining-tokens": text, "openai-processing-ms": text };
  return { body, contentType, headers };
}

/** The views that fail or contain a number that is not finite. */
async function brokenViews(site: GatewayUnderTest): Promise<string[]> {
  const broken: string[] = [];
  for (const path of VIEWS) {
    const answer = await site.admin(path);
    const text = await answer.text();
    const odd = /.{0,80}(?:\bNaN\b|\bInfinity\b|[ +-]Inf\b(?!")).{0,80}/.exec(text)?.[0];
    if (answer.status !== 200) broken.push(`${path}: ${answer.status} ${text.slice(0, 200)}`);
    else if (odd !== undefined) broken.push(`${path}: ${odd}`);
  }
  const totals = await usageTotals(site);
  const isSane = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= 0;
  for (const name of ["requests", "prompt_tokens", "completion_tokens", "cached_tokens", "cost"]) {
    if (!isSane(totals[name])) broken.push(`usage says of ${name} ${totals[name]}`);
  }
  return broken;
}

async function usageTotals(site: GatewayUnderTest): Promise<Readonly<Record<string, unknown>>> {
  const answer = await site.admin("/admin/usage?granularity=total");
  if (answer.status !== 200) return {};
  const { totals }: { totals: Record<string, unknown> } = await answer.json();
  return totals;
}

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  let wrong = 0;
  let lost = 0;
  const tell = (what: string) => {
    wrong += 1;
    console.log(`  wrong: ${what}`);
  };
  // The setup of the part has sent one request, which counts too.
  let sent = 1;
  for (let n = 0; n < count; n += 1) {
    const stated = STATED[Math.floor(random() * STATED.length)] ?? "null";
    const stream = random() < 0.5;
    site.upstream.plan = planOf(stream, stated);
    const keys = [undefined, ...KEYS.map(({ key }) => key)];
    await Promise.all(
      keys.map(async (key) => {
        sent += 1;
        const ended = await site.ask({ stream, ...(key === undefined ? {} : { key }) });
        const how = ending(ended);
        // A limited key may be exhausted by then. A key without limits must be served.
        const isRefused = key !== undefined && ended.status === 429;
        if (how !== "whole" && !isRefused) tell(`${stated}: ${ended.status} ${ended.text.slice(-300)}`);
      }),
    );
    const isLast = n === count - 1;
    if (n % 5 !== 4 && !isLast) continue;
    const uncounted = async () => sent - (await countedRequests(site).catch(() => 0));
    const missing = await untilZero(uncounted, BOOKED_MS);
    if (missing !== 0) console.log(`  lost: usage knows of ${missing} requests too few`);
    lost += Math.abs(missing);
    sent -= missing;
    for (const view of await brokenViews(site)) tell(`after ${stated}: ${view}`);
    if (site.runtime !== "deno" && !isLast) continue;
    await site.gateway.restart();
    site.forgetSockets();
    for (const view of await brokenViews(site)) tell(`after ${stated} and a restart: ${view}`);
  }
  return { wrong, lost };
}

/** Upstreams send invalid or too large numbers. Afterwards everything must start and respond, with finite numbers. */
export const numbers: Part = {
  name: "numbers",
  what: "numbers that upstreams state, each to keys with and without limits",
  full: 5_000,
  short: 40,
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "It is a short answer." },
    keys: KEYS,
    config: { prices: { "provider-v4-flash-nothinking": { input: 2, output: 8 } } },
  },
  run,
};
