import { describe, expect, it } from "vitest";
import { MemoryBudget } from "../../../../../src/core/http/memory-budget.ts";
import type { Fetch } from "../../../../../src/core/ports/upstream.ts";
import { parseVariables } from "../../../../../src/core/variables/parse-variables.ts";
import { AttachmentFetcher } from "../../../../../src/gateway/generation/preparation/attachment-fetcher.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";

const variables = parseVariables({ PAGE_PRIVATE_HOSTS: "files.internal:8080" }, { drivers: ["sessions"] });
const MIB = 1024 * 1024;
const fetching = (fetch: Fetch, budget = new MemoryBudget(256 * MIB)) =>
  new AttachmentFetcher({ fetch, variables }, "input", budget.createReservation());
const never = () => new AbortController().signal;
const PUBLIC = "https://pictures.example/a.png";
const refused = (why: string) => ({ status: 400, param: "input", message: expect.stringContaining(why) });

describe("an attachment behind a URL", () => {
  it("is loaded with its bytes and media type", async () => {
    const fetcher = fetching(async (url, init) => {
      expect([url, init?.redirect]).toEqual([PUBLIC, "manual"]);
      return new Response("PNG", { headers: { "content-type": "Image/PNG; q=1" } });
    });
    const { bytes, mediaType } = await fetcher.fetch(PUBLIC, never());
    expect([new TextDecoder().decode(bytes), mediaType]).toEqual(["PNG", "image/png"]);
  });

  it("may be on a private host only if the deployment lists it", async () => {
    const asked: string[] = [];
    const fetcher = fetching(async (url) => {
      asked.push(url);
      return new Response("x");
    });
    await fetcher.fetch("http://files.internal:8080/a", never());
    await expect(fetcher.fetch("http://10.0.0.1/a", never())).rejects.toMatchObject(refused("10.0.0.1"));
    expect(asked).toEqual(["http://files.internal:8080/a"]);
  });

  it("is limited in size, together with others", async () => {
    const size = 12 * 1024 * 1024;
    const fetcher = fetching(async () => new Response(new Uint8Array(size)));
    expect((await fetcher.fetch(PUBLIC, never())).bytes).toHaveLength(size);
    // The same address is not asked twice.
    expect((await fetcher.fetch(PUBLIC, never())).bytes).toHaveLength(size);
    await expect(fetcher.fetch(`${PUBLIC}?2`, never())).rejects.toMatchObject(refused("in all"));
  });

  it("counts in the memory budget, and is refused without memory", async () => {
    const budget = new MemoryBudget(40 * MIB);
    let cancelled = 0;
    const body = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
        cancel: () => {
          cancelled += 1;
        },
      });
    await fetching(async () => new Response(new Uint8Array(6 * MIB)), budget).fetch(PUBLIC, never());
    expect(budget.used).toBe(6 * MIB);
    const other = fetching(async () => new Response(body()), new MemoryBudget(40 * MIB));
    await expect(other.fetch(PUBLIC, never())).rejects.toMatchObject({ status: 413 });
    expect(cancelled).toBe(1);
  });

  it("that breaks off or cannot be reached is an error of the request", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      pull: (controller) => controller.error(new Error("reset")),
    });
    for (const fetch of [async () => new Response(broken), () => Promise.reject(new Error("refused"))]) {
      await expect(fetching(fetch).fetch(PUBLIC, never())).rejects.toMatchObject(
        refused("cannot be reached"),
      );
    }
  });

  it("is abandoned when its caller leaves", async () => {
    const gone = new Error("the client went away");
    const abort = new AbortController();
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
    });
    const fetched = fetching(async () => new Response(silent)).fetch(PUBLIC, abort.signal);
    setTimeout(() => abort.abort(gone), 5);
    await expect(fetched).rejects.toBe(gone);
  });
});

describe("many attachments behind URLs", () => {
  const make = useMemoryGateway();
  const ask = async (count: number) => {
    let running = 0;
    let most = 0;
    let asked = 0;
    const gateway = await make({
      fetch: async () => {
        running += 1;
        asked += 1;
        most = Math.max(most, running);
        for (let step = 0; step < 50; step += 1) await Promise.resolve();
        running -= 1;
        return new Response("PNG", { headers: { "content-type": "image/png" } });
      },
    });
    const content = Array.from({ length: count }, (_, index) => ({
      type: "image_url",
      image_url: { url: `${PUBLIC}?${index}` },
    }));
    const body = { model: "provider-v4-vision", messages: [{ role: "user", content }] };
    const response = await gateway.post("/v1/chat/completions", body);
    return { status: response.status, text: await response.text(), most, asked };
  };

  it("use few connections at the same time", async () => {
    expect(await ask(60)).toMatchObject({ status: 200, most: 10, asked: 60 });
  });

  it("are refused above the maximum number", async () => {
    const { status, text, asked } = await ask(501);
    expect([status, text]).toEqual([400, expect.stringContaining("500 URLs")]);
    expect(asked).toBeLessThanOrEqual(500);
  });
});

describe("an address that turns out to lead to an image", () => {
  const make = useMemoryGateway();
  const content = [
    { type: "input_text", text: "What is it?" },
    { type: "input_file", file_url: "https://pictures.example/scan" },
  ];

  it.each([false, true])("goes to the model with vision (stream: %s)", async (stream) => {
    let asked = 0;
    const gateway = await make({
      fetch: async () => {
        asked += 1;
        return new Response("PNG", { headers: { "content-type": "image/png" } });
      },
    });
    const input = [{ role: "user", content }];
    const response = await gateway.post("/v1/responses", { model: "provider-v4-pro", input, stream });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('"model":"provider-v4-vision"'),
    ]);
    expect(gateway.turns[0]?.json()).toMatchObject({ model: "vision", file_ids: ["file-1"] });
    expect(asked).toBe(1);
    const [record] = await gateway.history();
    expect(record).toMatchObject({ model: "provider-v4-vision", requested_model: "provider-v4-pro" });
    expect(gateway.lines.at(-1)).toMatchObject({ model: "provider-v4-vision" });
  });

  it("is still a document if it is one", async () => {
    const gateway = await make({
      fetch: async () => new Response("%PDF", { headers: { "content-type": "application/pdf" } }),
    });
    await gateway.post("/v1/responses", { model: "provider-v4-pro", input: [{ role: "user", content }] });
    expect(gateway.turns[0]?.json()).toMatchObject({ model: "pro" });
  });
});
