import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import type { Gateway } from "../support/gateway.ts";
import { html, startPageService, useSite } from "../support/pages.ts";

interface Application {
  readonly name: string;
  readonly confidence: string;
  readonly version: string;
  readonly icon: string;
  readonly website: string;
  readonly categories: readonly string[];
}

interface Lookup {
  readonly url: string;
  readonly originalUrl: string;
  readonly applications: readonly Application[];
}

describeWithBrowser("GET /v1/technologies/", () => {
  let loads = 0;

  const pages = useSite((_, response, { pathname }) => {
    switch (pathname) {
      case "/moved":
        response.writeHead(302, { location: "/wordpress" });
        return response.end();
      case "/wordpress":
        loads++;
        response.setHeader("server", "nginx/1.25.3");
        response.setHeader("set-cookie", "PHPSESSID=1; path=/");
        return html(
          response,
          `<div id="app" data-v-app=""></div><script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1"></script>
           <script>window.Vue = { version: "3.4.21" }; fetch("/api")</script>`,
          `<meta name="generator" content="WordPress 6.5.2"><link rel="stylesheet" href="/wp-content/themes/x/style.css">`,
        );
      case "/wp-includes/js/jquery/jquery.min.js":
        response.setHeader("content-type", "text/javascript");
        return response.end("window.jQuery = Object.assign(() => {}, { fn: { jquery: '3.7.1' } });");
      default:
        return html(response, "<p>Nothing special</p>");
    }
  });

  const ask = (path: string, query: Record<string, string> = {}, slash = "/") =>
    pages.gateway.fetch(
      `/v1/technologies${slash}?${new URLSearchParams({ url: pages.host + path, ...query })}`,
    );
  const lookUp = async (path: string, query: Record<string, string> = {}, slash = "/"): Promise<Lookup> => {
    const response = await ask(path, query, slash);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    return JSON.parse(await response.text());
  };

  it("returns metadata of a page, alone or with technologies, from one load", async () => {
    const about = async (query: Record<string, string>) => {
      const response = await pages.gateway.fetch(
        `/v1/metadata/?${new URLSearchParams({ url: `${pages.host}/moved?about`, ...query })}`,
      );
      expect(response.status).toBe(200);
      expect(response.headers.get("x-page-url")).toBe(`${pages.origin}/wordpress`);
      expect(response.headers.get("ratelimit-limit")).not.toBeNull();
      return { cache: response.headers.get("x-cache"), body: JSON.parse(await response.text()) };
    };
    const alone = await about({});
    expect(alone).toMatchObject({
      cache: "MISS",
      body: {
        url: `${pages.origin}/wordpress`,
        originalUrl: `http://${pages.host}/moved?about`,
        title: "Test",
        description: null,
        canonical: null,
        language: null,
        openGraph: {},
        icons: [],
        feeds: [],
      },
    });
    const before = loads;
    const both = await about({ technologies: "true" });
    expect(loads - before).toBe(1);
    expect(both.body).toMatchObject({
      ...alone.body,
      applications: expect.arrayContaining([
        expect.objectContaining({ name: "WordPress", version: "6.5.2" }),
      ]),
    });
    expect([(await about({})).cache, (await about({ technologies: "1" })).cache]).toEqual(["HIT", "HIT"]);
    const wrong = await pages.gateway.fetch("/v1/metadata?url=localhost&technologies=1");
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { error: expect.objectContaining({ code: "url_host_forbidden", param: "url" }) },
    ]);
  });

  it("detects technologies from everything that one load shows", async () => {
    const { url, originalUrl, applications } = await lookUp("/wordpress");
    expect([url, originalUrl]).toEqual([`${pages.origin}/wordpress`, `${pages.origin}/wordpress`]);
    const byName = new Map(applications.map((application) => [application.name, application]));
    // By meta element, response header, a global of the page, a cookie, and what they bring along.
    expect(byName.get("WordPress")).toMatchObject({
      version: "6.5.2",
      confidence: "100",
      website: "https://wordpress.org",
    });
    expect(byName.get("WordPress")?.categories).toEqual(expect.arrayContaining(["CMS"]));
    expect(byName.get("Nginx")?.version).toBe("1.25.3");
    expect(byName.get("jQuery")?.version).toBe("3.7.1");
    expect(byName.get("Vue.js")?.version).toBe("3.4.21");
    expect(byName.get("PHP")).toMatchObject({ version: "" });
    expect(byName.get("MySQL")).toBeDefined();
    for (const application of applications) {
      expect(Object.keys(application)).toEqual([
        "name",
        "confidence",
        "version",
        "icon",
        "website",
        "categories",
      ]);
      expect(application.confidence).toMatch(/^\d{1,3}$/);
      expect(application.icon).toMatch(/\.(?:svg|png)$/);
      expect(application.website).toMatch(/^https?:/);
      expect(application.categories.length).toBeGreaterThan(0);
    }
  });

  it("states both the requested address and the final one", async () => {
    const { url, originalUrl, applications } = await lookUp("/moved", {}, "");
    expect([url, originalUrl]).toEqual([`${pages.origin}/wordpress`, `${pages.origin}/moved`]);
    expect(applications.map(({ name }) => name)).toContain("WordPress");
  });

  it("finds nothing on a page without technologies", async () => {
    expect((await lookUp("/plain")).applications).toEqual([]);
  });

  it("indents the JSON on request", async () => {
    const plain = await (await ask("/plain")).text();
    const pretty = await (await ask("/plain", { prettify: "true" })).text();
    expect(plain).not.toContain("\n");
    expect(pretty).toContain('\n  "applications": []');
    expect(JSON.parse(pretty)).toEqual(JSON.parse(plain));
  });

  it("returns a cached answer", async () => {
    await lookUp("/wordpress");
    const before = loads;
    const again = await ask("/wordpress");
    expect(again.headers.get("x-cache")).toBe("HIT");
    expect(again.headers.get("etag")).toMatch(/^"[0-9a-f]+"$/);
    await again.arrayBuffer();
    expect(loads).toBe(before);
  });

  it.each([
    ["url", "ftp://example.com"],
    ["prettify", "maybe"],
    ["maxAge", "x"],
    ["URL", "example.com"],
  ])("refuses %s=%s with a 400 that names the parameter", async (name, value) => {
    const response = await ask("/plain", { [name]: value });
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text()).error).toMatchObject({
      param: name,
      type: "invalid_request_error",
    });
  });

  it("requires a url", async () => {
    const response = await pages.gateway.fetch("/v1/technologies");
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text()).error).toMatchObject({ param: "url", code: "url_required" });
  });
});

describe("the limit of the page service", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startPageService([], { PAGE_RATE_LIMIT: "" });
  });
  afterAll(() => gateway.close());

  const call = async (operation: string, address: string) => {
    // The platform sets this header itself, and takes away what a client sent; here there is no platform.
    const response = await gateway.fetch(`/v1/${operation}`, {
      headers: { "cf-connecting-ip": address },
    });
    const { error } = JSON.parse(await response.text());
    return { status: response.status, headers: response.headers, error };
  };

  it("is exactly 100 calls a minute for one client over both operations", async () => {
    const calls = await Promise.all(
      Array.from({ length: 130 }, (_, index) =>
        call(index % 2 === 0 ? "thumbs" : "technologies/", "203.0.113.9"),
      ),
    );
    const allowed = calls.filter(({ status }) => status === 400);
    const refused = calls.filter(({ status }) => status === 429);
    expect([allowed.length, refused.length]).toEqual([100, 30]);
    expect(new Set(allowed.map(({ headers }) => Number(headers.get("ratelimit-remaining")))).size).toBe(100);
    for (const { headers, error } of refused) {
      expect(error).toMatchObject({ code: "rate_limit_exceeded", type: "rate_limit_error", param: null });
      const wait = Number(headers.get("retry-after"));
      expect(wait).toBeGreaterThan(50);
      expect(wait).toBeLessThanOrEqual(60);
      expect(headers.get("ratelimit-limit")).toBe("100");
      expect(headers.get("ratelimit-remaining")).toBe("0");
      expect(headers.get("ratelimit-reset")).toBe(String(wait));
    }
  });

  it("does not affect other clients and the other routes", async () => {
    expect((await call("thumbs", "203.0.113.10")).status).toBe(400);
    const health = await gateway.fetch("/healthz", { headers: { "cf-connecting-ip": "203.0.113.9" } });
    expect(health.status).toBe(200);
    expect(health.headers.get("ratelimit-limit")).toBeNull();
    expect(
      (await gateway.fetch("/v1/models", { headers: { "cf-connecting-ip": "203.0.113.9" } })).status,
    ).toBe(200);
  });

  it("counts an IPv6 network of 64 bits as one client", async () => {
    const addresses = Array.from({ length: 101 }, (_, index) => `2001:db8:1:1::${(index + 1).toString(16)}`);
    const calls = await Promise.all(addresses.map((address) => call("thumbs", address)));
    expect(calls.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await call("thumbs", "2001:db8:1:2::1")).status).toBe(400);
  });

  it("counts each address of a list, all of them or none", async () => {
    // None may be loaded: such a job is over at once.
    const urls = Array.from({ length: 50 }, (_, index) => `10.0.0.${index + 1}`);
    const told: (readonly [number, string | null])[] = [];
    for (let batch = 0; batch < 2; batch++) {
      for (const some of [urls, urls.slice(0, 49)]) {
        const response = await gateway.fetch("/v1/technologies", {
          method: "POST",
          headers: { "cf-connecting-ip": "203.0.113.11", "content-type": "application/json" },
          body: JSON.stringify({ urls: some }),
        });
        await response.arrayBuffer();
        told.push([response.status, response.headers.get("ratelimit-remaining")]);
      }
    }
    expect(told).toEqual([
      [202, "50"],
      [202, "1"],
      [429, "1"],
      [429, "1"],
    ]);
    expect((await call("thumbs", "203.0.113.11")).status).toBe(400);
    expect((await call("thumbs", "203.0.113.11")).status).toBe(429);
  });

  it("ignores the address that a client claims", async () => {
    const response = await gateway.fetch("/v1/thumbs", {
      headers: {
        "cf-connecting-ip": "203.0.113.9",
        "x-forwarded-for": "198.51.100.1",
        "x-real-ip": "198.51.100.1",
        forwarded: "for=198.51.100.1",
      },
    });
    expect(response.status).toBe(429);
    await response.arrayBuffer();
  });
});
