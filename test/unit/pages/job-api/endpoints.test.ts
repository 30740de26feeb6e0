import { beforeEach, describe, expect, it, vi } from "vitest";
import { signLink } from "../../../../src/core/auth/signed-links.ts";
import { keyDigest, keyIdentifier } from "../../../../src/core/config/api-keys.ts";
import { apiKeySchema } from "../../../../src/core/config/schemas/key-schema.ts";
import type { JobState, NewJob, PageJobs } from "../../../../src/core/ports/page-jobs.ts";
import { pageCrashed } from "../../../../src/pages/browser/failures.ts";
import { MAX_UNFINISHED_JOBS } from "../../../../src/pages/jobs/job-scheduler.ts";
import { type MemoryGateway, START_OF_TIME, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type FakeBrowser, fakeBrowser } from "../../../support/page-browser.ts";

interface JobAnswer {
  readonly id: string;
  readonly status: string;
  readonly progress: unknown;
  readonly results: readonly {
    readonly url: string;
    readonly status: string;
    readonly resultUrl: string | null;
    readonly error: { readonly code: string } | null;
  }[];
}

const createGateway = useMemoryGateway();

describe("jobs of the page service", () => {
  let gateway: MemoryGateway;
  let browser: FakeBrowser;
  let counted: number[];
  let gate = Promise.resolve();

  beforeEach(async () => {
    gate = Promise.resolve();
    counted = [];
    browser = fakeBrowser(async ({ url }) => {
      await gate;
      if (url.includes("crash")) throw pageCrashed();
    });
    gateway = await createGateway({
      pages: {
        browser,
        countCalls: async (_, limit, calls = 1) => {
          counted.push(calls);
          const allowed = calls <= 20;
          return { allowed, limit, remaining: 20 - calls, resetSeconds: 60 };
        },
      },
    });
  });

  const jobIn = async (response: Response): Promise<JobAnswer> => JSON.parse(await response.text());
  const codeOf = async (response: Response) => {
    const { error }: { error: { code: string; param: string | null } } = JSON.parse(await response.text());
    return [response.status, error.code, error.param];
  };
  const post = (body: unknown, query = "") =>
    gateway.request(`/v1/thumbs${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const look = async (id: string) => jobIn(await gateway.request(`/v1/jobs/${id}`));
  async function over(id: string): Promise<JobAnswer> {
    await expect
      .poll(async () => (await look(id)).status, { timeout: 20_000 })
      .toMatch(/completed|failed|cancelled/);
    return look(id);
  }

  it("answer at once, show their state, and return the result", async () => {
    const begun = Promise.withResolvers<void>();
    gate = begun.promise;
    const response = await gateway.request("/v1/thumbs?url=example.com&size=og&async=true");
    expect(response.status).toBe(202);
    const job = await jobIn(response);
    expect(job.id).toMatch(/^job_[0-9a-f]{32}$/);
    expect(response.headers.get("location")).toBe(`/v1/jobs/${job.id}`);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(response.headers.get("ratelimit-limit")).toBe("100");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(job).toMatchObject({ results: [{ url: "example.com", resultUrl: null, error: null }] });
    const early = await gateway.request(`/v1/jobs/${job.id}/results/0`);
    expect(await codeOf(early)).toEqual([409, "job_not_finished", null]);
    begun.resolve();
    const done = await over(job.id);
    expect(done).toMatchObject({
      status: "completed",
      progress: { total: 1, completed: 1, failed: 0, cancelled: 0 },
    });
    const result = await gateway.request(done.results[0]?.resultUrl ?? "");
    expect([result.status, await result.text()]).toEqual([200, "jpeg of http://example.com/"]);
    expect(result.headers.get("content-type")).toBe("image/jpeg");
    expect(result.headers.get("x-page-url")).toBe("http://example.com/");
    expect(result.headers.get("cache-control")).toMatch(/^private, max-age=3[56]\d\d$/);
    const tag = { "if-none-match": result.headers.get("etag") ?? "" };
    expect((await gateway.request(done.results[0]?.resultUrl ?? "", { headers: tag })).status).toBe(304);
    // It is kept with all other captures.
    const again = await gateway.request("/v1/thumbs?url=example.com&size=og");
    expect([again.headers.get("x-cache"), browser.captures.length]).toEqual(["HIT", 1]);
  });

  it("process a list with the same options, each address separately, and count each as a call", async () => {
    const urls = ["example.com", "http://127.0.0.1/", "crash.example.com", "example.org"];
    const response = await post({ urls, size: "m", format: "png", full: true });
    expect([response.status, counted]).toEqual([202, [4]]);
    const { id } = await jobIn(response);
    const done = await over(id);
    expect(done).toMatchObject({ status: "completed", progress: { total: 4, completed: 2, failed: 2 } });
    expect(done.results.map(({ url, error }) => [url, error?.code])).toEqual([
      ["example.com", undefined],
      ["http://127.0.0.1/", "url_host_forbidden"],
      ["crash.example.com", "page_crashed"],
      ["example.org", undefined],
    ]);
    expect(await (await gateway.request(`/v1/jobs/${id}/results/3`)).text()).toBe(
      "png of http://example.org/",
    );
    expect(await codeOf(await gateway.request(`/v1/jobs/${id}/results/2`))).toEqual([
      502,
      "page_crashed",
      null,
    ]);
    expect(browser.captures.every(([request]) => request.full && request.format === "png")).toBe(true);
  });

  it.each([
    [{ urls: [] }, "urls"],
    [{ urls: Array.from({ length: 51 }, (_, n) => `example.com/${n}`) }, "urls"],
    [{ urls: ["example.com"], size: "bogus" }, "size"],
    [{ urls: ["example.com"], quality: 101 }, "quality"],
    [{ urls: ["example.com"], full: "maybe" }, "full"],
    [{ urls: ["http://127.0.0.1/"], size: "bogus" }, "size"],
    [{ urls: ["example.com"], size: `${" ".repeat(200)}m` }, "size"],
    [{ urls: ["example.com"], userAgent: `x${" ".repeat(600)}` }, "userAgent"],
    [{ urls: ["example.com"], timezone: `UTC${" ".repeat(600)}` }, "timezone"],
    [{ urls: ["example.com"], locale: `de${" ".repeat(600)}` }, "locale"],
    [{ urls: ["example.com"], hide: Array(10).fill("x".repeat(1_000)) }, ""],
    [{ urls: ["example.com"], fullPage: true }, "fullPage"],
    [{ urls: ["example.com"], url: "example.org" }, "urls"],
    [{ url: "example.org", html: "<p>" }, "urls"],
    [{ size: "og" }, "urls"],
  ])("are a 400 with %j, which names the parameter if only one is wrong", async (body, param) => {
    const response = await post(body);
    const [status, , named] = await codeOf(response);
    expect([status, String(named ?? "")]).toEqual([400, expect.stringContaining(param)]);
    expect(browser.captures).toEqual([]);
  });

  it("suggest the right name for a misspelt parameter, and refuse options in the query beside a body", async () => {
    const postAndReadError = async (body: unknown, query = "") => {
      const { error }: { error: { message: string; param: string } } = await (await post(body, query)).json();
      return [error.param, error.message];
    };
    const urls = ["example.com"];
    expect(await postAndReadError({ urls, fullPage: true })).toEqual([
      "fullPage",
      "There is no parameter fullPage. Do you mean full?",
    ]);
    expect(await postAndReadError({ urls }, "?size=og")).toEqual([
      "size",
      expect.stringContaining("in the body"),
    ]);
    expect((await post({ urls }, "?async=true")).status).toBe(202);
  });

  it.each(["{", '{"urls": []}', '{"urls": ["example.com"], "fullPage": true}'])(
    "count as one call if %j cannot be read, and state the remaining calls",
    async (body) => {
      const response = await gateway.request("/v1/metadata", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      expect([response.status, response.headers.get("ratelimit-remaining"), counted]).toEqual([
        400,
        "19",
        [1],
      ]);
      expect(response.headers.get("cache-control")).toBe("no-store");
    },
  );

  it("are refused as a whole, before any work, if the limit of calls does not allow all addresses", async () => {
    const urls = Array.from({ length: 21 }, (_, n) => `example.com/${n}`);
    const append = vi.spyOn(URLSearchParams.prototype, "append");
    try {
      expect(await codeOf(await post({ urls, size: "m" }))).toEqual([429, "rate_limit_exceeded", null]);
      expect(append.mock.calls.filter(([name]) => name === "size")).toEqual([]);
    } finally {
      append.mockRestore();
    }
    expect(browser.captures).toEqual([]);
  });

  it("store no options for addresses that are forbidden or too long, and no surplus whitespace", async () => {
    const kept: NewJob[] = [];
    const nothing = async () => null;
    const create = async (job: NewJob) => {
      kept.push(job);
      return null;
    };
    gateway = await createGateway({
      pages: { jobs: { create, get: nothing, result: nothing, cancel: nothing } },
    });
    const tabs = `example.com/${"\t".repeat(100_000)}x`;
    await post({ urls: ["http://127.0.0.1/", "example.com", tabs], size: "m" });
    expect(kept[0]?.tasks.map(({ query, fault }) => [query, fault?.code])).toEqual([
      ["", "url_host_forbidden"],
      ["url=example.com&size=m", undefined],
      ["", "url_too_long"],
    ]);
    const alone = (query: Record<string, string>) =>
      gateway.request(`/v1/thumbs?${new URLSearchParams({ async: "true", url: "example.com", ...query })}`);
    expect((await alone({ url: `${" ".repeat(9_000)}example.com` })).status).toBe(429);
    expect(await codeOf(await alone({ url: `example.com/${"\t".repeat(9_000)}x` }))).toEqual([
      400,
      "url_too_long",
      "url",
    ]);
    expect(await codeOf(await alone({ size: `${" ".repeat(9_000)}m` }))).toEqual([
      400,
      "invalid_request",
      null,
    ]);
    expect(kept.slice(1).map(({ tasks }) => tasks[0]?.query)).toEqual(["url=example.com"]);
  });

  it("are limited in number per client, and a cancelled one makes room", async () => {
    const begun = Promise.withResolvers<void>();
    gate = begun.promise;
    const ids: string[] = [];
    for (let n = 0; n < MAX_UNFINISHED_JOBS; n++)
      ids.push((await jobIn(await post({ urls: [`example.com/${n}`] }))).id);
    const refused = await post({ urls: ["example.com"] });
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await codeOf(refused)).toEqual([429, "job_limit_exceeded", null]);
    const cancelled = await gateway.request(`/v1/jobs/${ids[4]}`, { method: "DELETE" });
    expect(await jobIn(cancelled)).toMatchObject({ status: "cancelled", progress: { cancelled: 1 } });
    expect(await codeOf(await gateway.request(`/v1/jobs/${ids[4]}/results/0`))).toEqual([
      409,
      "job_cancelled",
      null,
    ]);
    expect((await post({ urls: ["example.com"] })).status).toBe(202);
    begun.resolve();
    await over(ids[0] ?? "");
  });

  it("can be read only with their id, which is never logged", async () => {
    const { id } = await jobIn(await gateway.request("/v1/thumbs?url=example.com&async"));
    await over(id);
    for (const other of ["job_0", `${id}0`, "%00", `job_${"0".repeat(64)}_${"0".repeat(32)}`]) {
      for (const method of ["GET", "DELETE"]) {
        const response = await gateway.request(`/v1/jobs/${other}`, { method });
        expect(await codeOf(response)).toEqual([404, "job_not_found", null]);
      }
    }
    for (const place of ["1", "-1", "x", "1e0"]) {
      expect((await gateway.request(`/v1/jobs/${id}/results/${place}`)).status).toBe(404);
    }
    expect(JSON.stringify(gateway.lines)).not.toContain(id);
  });

  it("are not found if a result is deleted between the two reads of its job", async () => {
    const job: JobState = {
      ...{ id: "job_1", operation: "thumbs", createdAt: 1, finishedAt: 2, expiresAt: 3 },
      tasks: [{ url: "example.com", status: "completed", fault: null }],
    };
    const jobs: PageJobs = {
      create: async () => null,
      get: async () => job,
      result: async () => null,
      cancel: async () => null,
    };
    gateway = await createGateway({ pages: { jobs } });
    expect(await codeOf(await gateway.request("/v1/jobs/job_1/results/0"))).toEqual([
      404,
      "job_not_found",
      null,
    ]);
  });

  it("stop at the next address if the key that created them is removed", async () => {
    const begun = Promise.withResolvers<void>();
    gate = begun.promise;
    const urls = ["example.com/1", "example.com/2", "example.com/3", "example.com/4"];
    const { id } = await jobIn(await post({ urls }, `?key=${KEY}`));
    await expect.poll(() => browser.captures.length, { timeout: 20_000 }).toBe(2);
    await gateway.platform.configuration.update((config) => ({ ...config, keys: [], api_keys: [] }));
    begun.resolve();
    const { results } = await over(id);
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      "invalid_api_key",
      "invalid_api_key",
    ]);
    expect((await gateway.request(`/v1/jobs/${id}/results/3`)).status).toBe(401);
    expect(browser.captures).toHaveLength(2);
  });

  it("count for a key, and cannot be created with a link that was signed for one picture", async () => {
    const query = new URLSearchParams({ url: "example.com", key: KEY, async: "yes" });
    const { id } = await jobIn(await gateway.request(`/v1/thumbs?${query}`));
    await over(id);
    expect([counted, browser.captures[0]?.[1]]).toEqual([[], expect.stringMatching(/^key:/)]);
    const entry = apiKeySchema.parse({ key: KEY });
    const link = new URLSearchParams({
      keyId: await keyIdentifier(entry),
      expires: String(START_OF_TIME / 1_000 + 60),
    });
    link.set("signature", await signLink(await keyDigest(entry), "/v1/thumbs", link));
    const response = await post({ urls: ["example.com"] }, `?${link}`);
    expect(await codeOf(response)).toEqual([403, "signature_invalid", "signature"]);
  });
});
