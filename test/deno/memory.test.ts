import { afterAll, beforeAll, expect, it } from "vitest";
import { DenoGateway } from "../support/deno.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

const MIB = 1024 * 1024;
/** What strangers may never make of the process. */
const MOST_MEMORY = 600 * MIB;
/** What a managed key's own image of 30 MiB may add on a machine that is busy, and collects garbage late. */
const OWN_MEMORY = process.env["CAMPAIGN"] === undefined ? 100 * MIB : 0;
/** How long an answer may take afterwards in a campaign; else the machine may be busy with other tests. */
const LONGEST_MS = process.env["CAMPAIGN"] === undefined ? Number.POSITIVE_INFINITY : 100;

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start();
});
afterAll(() => gateway.close());

/** JSON of so many bytes, of the values that cost most memory for theirs. */
function costly(bytes: number, start = '{"model":"gpt-4o","messages":['): string {
  const end = "{}]}";
  return `${start}${"{},".repeat(Math.floor((bytes - start.length - end.length) / 3))}${end}`;
}

const post = (path: string, body: BodyInit, authorization?: string) =>
  gateway.fetch(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
    },
    body,
  });

/** What a request came to; 0 for a connection that was cut. */
const status = (answer: Promise<Response>) =>
  answer.then(
    async (response) => {
      await response.body?.cancel();
      return response.status;
    },
    () => 0,
  );

/** The program lives: it answers, and has had no more memory than it may. */
async function expectWell(most = MOST_MEMORY): Promise<void> {
  expect((await gateway.fetch("/healthz")).status).toBe(200);
  const begun = performance.now();
  expect((await gateway.fetch("/healthz")).status).toBe(200);
  expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
  expect(await gateway.peakMemory()).toBeLessThan(most);
}

it("outlives eight bodies of 31 MiB from strangers", { timeout: 60_000 }, async () => {
  const body = costly(31 * MIB);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => status(post("/v1/chat/completions", body, `made-up-${n}`))),
  );
  for (const answer of answers) expect([413, 503]).toContain(answer);
  await expectWell();
});

it("refuses 31 MiB at the sign-in without looking at them", { timeout: 60_000 }, async () => {
  expect(await status(post("/admin/login", costly(31 * MIB, '{"admin_key":"x","y":[')))).toBe(413);
  await expectWell();
});

it("outlives hundreds of short bodies at once", { timeout: 60_000 }, async () => {
  const body = costly(64 * 1024 - 10);
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, n) => status(post("/v1/messages", body, `made-up-${n}`))),
  );
  for (const answer of answers) expect([400, 503]).toContain(answer);
  await expectWell();
});

it("outlives long texts from strangers, who do not keep a managed key from its own", {
  timeout: 60_000,
}, async () => {
  const chat = (content: string) =>
    JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] });
  const wide = chat("é".repeat(9 * MIB));
  const strangers = Array.from({ length: 8 }, (_, n) =>
    status(post("/v1/chat/completions", wide, `made-up-${n}`)),
  );
  const image = `data:image/png;base64,${"A".repeat(30 * MIB)}`;
  const own = post(
    "/v1/chat/completions",
    JSON.stringify({
      model: "provider-v4-vision",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: image } }] }],
    }),
    DEV_KEY,
  );
  expect((await own).status).toBe(200);
  for (const answer of await Promise.all(strangers)) expect([401, 503]).toContain(answer);
  await expectWell(MOST_MEMORY + OWN_MEMORY);
});
