import { bodyBytes, type Plan } from "../../support/fault-body.ts";
import { ending } from "../gateway-under-test.ts";
import type { Part } from "../part.ts";

const TEXT = "one two, drei \u00fc \u{1f600} five";

/** Every kind of fault, at every byte or event where it can occur. */
function plans(): Plan[] {
  const bytes = bodyBytes("sessions", { text: TEXT }).length;
  const events = 12;
  const each = (count: number, plan: (at: number) => Plan) =>
    Array.from({ length: count }, (_, at) => plan(at));
  return [
    ...each(bytes, (at) => ({ text: TEXT, cutAt: at })),
    ...each(bytes, (at) => ({ text: TEXT, resetAt: at })),
    ...each(bytes, (at) => ({ text: TEXT, cutAt: at, writeSize: 7 })),
    ...each(events, (at) => ({ text: TEXT, garbageAt: at })),
    ...each(events, (at) => ({ text: TEXT, errorAt: at })),
    ...each(events, (at) => ({ text: TEXT, stallAfter: at })),
    ...[400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529].map((status) => ({
      status,
    })),
    ...[1, 2, 3, 5, 64].map((writeSize) => ({ text: TEXT, writeSize, crlf: true, comments: true })),
    { hang: true },
    { body: "<html>", contentType: "text/html" },
    { body: "" },
  ];
}

const RECOVERY_MS = 30_000;

/**
 * The upstream fails in every way at every byte. Each answer must be complete or report an error, and the gateway must
 * recover afterwards.
 */
export const faults: Part = {
  name: "faults",
  what: "upstream faults, each streamed and not",
  full: plans().length,
  short: 40,
  site: {
    driver: "sessions",
    accounts: 3,
    perAccount: 20,
    plan: { text: TEXT },
    vars: {
      FIRST_BYTE_TIMEOUT_MS: "400",
      ANSWER_TIMEOUT_MS: "400",
      IDLE_TIMEOUT_MS: "300",
      KEEP_ALIVE_MS: "200",
    },
  },
  run: async ({ site, count, random }) => {
    const all = plans();
    // A selection contains faults of every kind: one in `stride`, from an offset that the seed determines.
    const stride = Math.max(1, all.length / count);
    let wrong = 0;
    let failures = 0;
    let tried = 0;
    let tries = 0;
    for (let at = Math.floor(random() * Math.min(stride, all.length)); at < all.length; at += stride) {
      const plan = all[Math.floor(at)] ?? {};
      tried += 1;
      for (const stream of [false, true]) {
        site.upstream.plan = plan;
        const ended = await site.ask({ stream });
        site.upstream.plan = { text: TEXT };
        const how = ending(ended);
        if (how === "failure") failures += 1;
        // An answer that claims to be complete must be complete.
        if (how === "wrong" || (how === "whole" && !says(ended.text, TEXT))) {
          wrong += 1;
          console.log(`  wrong after ${JSON.stringify(plan)}: ${ended.status} ${ended.text.slice(-300)}`);
        }
      }
      // After any fault, the next requests must succeed as soon as the accounts' cooldowns have ended.
      const end = Date.now() + RECOVERY_MS;
      let well = false;
      for (; !well && Date.now() < end; tries += 1) well = ending(await site.ask()) === "whole";
      if (!well) wrong += 1;
    }
    const note = `${tried} faults, ${failures} of ${2 * tried} answers tell of a failure; ${tries} requests until all was well`;
    return { wrong, note };
  },
};

/** Whether an answer, streamed or not, contains a text. */
function says(answer: string, text: string): boolean {
  const parts = [...answer.matchAll(/"content":\s*("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) =>
    JSON.parse(json),
  );
  return parts.join("").includes(text);
}
