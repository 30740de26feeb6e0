import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import {
  BLUE,
  colourAt,
  colourSampling,
  decode,
  expectColour,
  GREEN,
  html,
  isSimilarColour,
  RED,
  readPicture,
  useSite,
  WHITE,
} from "../support/pages.ts";
import { rawGet } from "../support/raw-client.ts";
import { ON_DENO } from "../support/runtime.ts";
import { until } from "../support/until.ts";

const box = (colour: string, width: string, height: string, extra = "") =>
  `<div style="background:${colour};width:${width};height:${height}" ${extra}></div>`;

const PAGES: Readonly<Record<string, string>> = {
  // Three bands: what is seen tells how the page was cut.
  "/bands": box("red", "100%", "400px") + box("green", "100%", "800px") + box("blue", "100%", "1800px"),
  "/halves": `<div style="display:flex">${box("red", "50%", "1200px")}${box("blue", "50%", "1200px")}</div>`,
  "/nodes": `${box("red", "300px", "700px")}${box("blue", "240px", "120px", 'id="target"')}${box("green", "10px", "2000px")}
    <div id="hidden" style="display:none">x</div><div id="far" style="position:absolute;top:2600px;left:1300px;width:50px;height:60px;background:green"></div>`,
  "/late": `<script>setTimeout(() => { document.body.innerHTML = '<div id=late style="background:blue;height:1200px">Here</div>' }, 200)</script>`,
  "/dark": `<style>body{background:white;height:1200px}@media (prefers-color-scheme: dark){body{background:blue}}</style>`,
  "/viewport": `<script>document.body.style.cssText = "height:1200px;background:" + (innerWidth === 412 && "ontouchstart" in window ? "green" : "red")</script>`,
  "/slow-script": `${box("green", "100%", "1200px")}<script src="/never.js"></script>`,
  "/empty": "",
  "/wide": box("blue", "3000px", "600px") + box("green", "100%", "600px"),
  "/covered": `${box("blue", "100%", "3000px")}<div class=cover style="position:fixed;inset:0;background:red"></div>
    <script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", '<div class="cover two" style="position:absolute;inset:0;background:green"></div>'), 300)</script>`,
  "/steps": `${box("green", "100%", "2500px")}<a id=next href="/steps-2">next</a>`,
  // Green when all is as it was asked for.
  "/steps-2": `<div id=says style="position:absolute;inset:0;background:red"></div><div style="height:4000px"></div><div id=low style="height:50px"></div>
    <div style="display:none" class=go></div><button class=go style="position:relative">go</button>
    <script>
      let seen = false, trusted = false;
      new IntersectionObserver(([entry]) => { seen ||= entry.isIntersecting && document.querySelector("#ready") !== null }).observe(low);
      document.querySelector("button").onclick = (event) => {
        trusted = event.isTrusted;
        setTimeout(() => document.head.append(Object.assign(document.createElement("meta"), { id: "ready" })), 300);
      };
      const place = () => [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString()].join();
      setInterval(() => { if (seen && trusted && place() === "de-AT,Asia/Tokyo,1,5") says.style.background = "green" }, 20);
    </script>`,
  "/see-through": `<div style="width:600px;height:600px;background:rgba(0,0,255,.5)"></div>`,
  "/long": `<script>setTimeout(() => fetch("/long/end"), 300)</script>`,
};

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
  };
}

async function errorOf(response: Response): Promise<ErrorBody["error"]> {
  const body: ErrorBody = JSON.parse(await response.text());
  return body.error;
}

describeWithBrowser("GET /v1/thumbs/", () => {
  const userAgents: string[] = [];
  const languages: (string | undefined)[] = [];
  const paths = new Set<string>();

  const pages = useSite(
    (request, response, { pathname, searchParams }) => {
      paths.add(pathname);
      if (pathname === "/never.js") return;
      if (pathname === "/steps") languages.push(request.headers["accept-language"]);
      if (pathname === "/agent" || pathname === "/screen")
        userAgents.push(request.headers["user-agent"] ?? "");
      if (pathname === "/screen") {
        const [width, height, density, touch] = (searchParams.get("is") ?? "").split(",");
        const test = `innerWidth == ${width} && innerHeight == ${height} && devicePixelRatio == ${density} && ("ontouchstart" in window) == ${touch}`;
        return html(
          response,
          `<div id=says style="position:fixed;inset:0"></div><script>says.style.background = ${test} ? "green" : "red"; if (!(${test})) says.textContent = [innerWidth, innerHeight, devicePixelRatio]</script>`,
          '<meta name="viewport" content="width=device-width,initial-scale=1">',
        );
      }
      html(response, PAGES[pathname] ?? box("green", "100%", "1200px"));
    },
    { PAGE_NAVIGATION_TIMEOUT_MS: "2500" },
  );

  const thumbs = (path: string, query: Record<string, string> = {}, slash = "/") =>
    pages.gateway.fetch(`/v1/thumbs${slash}?${new URLSearchParams({ url: pages.origin + path, ...query })}`);

  const picture = async (path: string, query: Record<string, string> = {}) =>
    readPicture(await thumbs(path, query));

  it("returns a JPEG of 320x240 by default, with and without the final slash", async () => {
    for (const slash of ["", "/"]) {
      const response = await thumbs("/bands", {}, slash);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("image/jpeg");
      const bytes = await response.arrayBuffer();
      expect(response.headers.get("content-length")).toBe(String(bytes.byteLength));
      const image = await decode(bytes);
      expect(image).toMatchObject({ format: "jpeg", width: 320, height: 240 });
      expect(colourSampling(bytes)).toBe("4:4:4");
      // 1200 by 900 of the page, from its top: red to 400, then green.
      expectColour(image, 160, 100, RED);
      expectColour(image, 160, 112, GREEN);
      expectColour(image, 160, 239, GREEN);
      // There is more of the page than is seen, and no bar at the side that says so.
      expectColour(image, 319, 239, GREEN);
    }
  });

  it.each(["jpg", "jpeg", "png", "webp", ...(ON_DENO ? ["avif"] : [])])(
    "encodes %s as requested",
    async (format) => {
      const type = `image/${format === "jpg" ? "jpeg" : format}`;
      for (const size of ["m", "o"]) {
        const response = await thumbs("/bands", { format, size });
        expect(response.headers.get("content-type")).toBe(type);
        const image = await decode(await response.arrayBuffer());
        expect(`image/${image.format}`).toBe(type);
        expectColour(image, 10, 10, RED);
      }
    },
  );

  it("gives JSON that carries the same image", async () => {
    const raw = Buffer.from(await (await thumbs("/bands")).arrayBuffer());
    const response = await thumbs("/bands", { output: "json" });
    expect(response.headers.get("content-type")).toBe("application/json");
    const text = await response.text();
    const body = JSON.parse(text);
    expect(Object.keys(body)).toEqual(["mime_type", "base64", "width", "height"]);
    expect(body).toMatchObject({ mime_type: "image/jpeg", width: 320, height: 240 });
    expect(Buffer.from(body.base64, "base64").equals(raw)).toBe(true);
    expect(text).not.toContain("\n");
    const pretty = await (await thumbs("/bands", { output: "json", prettify: "true" })).text();
    expect(pretty).toContain('\n  "mime_type"');
    expect(JSON.parse(pretty)).toEqual(body);
  });

  it("captures the full page, in its own proportions", async () => {
    const image = await picture("/bands", { full: "true", format: "png" });
    expect(image).toMatchObject({ width: 320, height: 800 });
    expectColour(image, 100, 790, BLUE);
    // One that is wider than the viewport is seen in all its width.
    const wide = await picture("/wide", { full: "1", format: "png", size: "o" });
    expect(wide).toMatchObject({ width: 3000, height: 1200 });
    expectColour(wide, 2990, 300, BLUE);
  });

  it("captures one node, wherever it is", async () => {
    const node = await picture("/nodes", { selector: "#target", size: "o", format: "png" });
    expect(node).toMatchObject({ width: 240, height: 120 });
    for (const [x, y] of [
      [1, 1],
      [238, 1],
      [1, 118],
      [238, 118],
    ] as const) {
      expectColour(node, x, y, BLUE);
    }
    const far = await picture("/nodes", { selector: "#far", size: "o", format: "png" });
    expect(far).toMatchObject({ width: 50, height: 60 });
    expectColour(far, 25, 30, GREEN);
  });

  it("waits a moment for a node, and answers 404 if none is visible", async () => {
    expect(await picture("/late", { selector: "#late", size: "o" })).toMatchObject({
      width: 1200,
      height: 1200,
    });
    const response = await thumbs("/nodes", { selector: "#hidden" });
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({ code: "selector_not_found", param: "selector" });
  });

  it("emulates a phone with mobile", async () => {
    const image = await picture("/screen?is=412,732,2,true", { mobile: "true", format: "png" });
    expect(image).toMatchObject({ width: 320, height: 568 });
    expectColour(image, 160, 300, GREEN);
    await picture("/agent", { mobile: "true" });
    expect(userAgents.at(-1)).toMatch(/Android.*Mobile/);
    // Without a viewport of its own, a page is laid out 980 wide and shown smaller, as phones do.
    const wide = await picture("/halves", { mobile: "true", size: "o", format: "png" });
    expect(wide).toMatchObject({ width: 824, height: 1464 });
    expectColour(wide, 400, 200, RED);
    expectColour(wide, 424, 200, BLUE);
  });

  it("sends the user agent that the caller gives", async () => {
    await picture("/agent", { userAgent: "Examiner/1.0 (+https://example.com)" });
    expect(userAgents.at(-1)).toBe("Examiner/1.0 (+https://example.com)");
  });

  it("waits the requested number of seconds", async () => {
    const started = performance.now();
    const late = await picture("/late", { format: "png", delay: "1" });
    expect(performance.now() - started).toBeGreaterThan(1_000);
    expectColour(late, 100, 100, BLUE);
  });

  it("waits for a text and for the network on request", async () => {
    const query = { waitForText: "Here", waitUntil: "networkidle0", settle: "0", format: "png" };
    const late = await picture("/late", query);
    expectColour(late, 100, 100, BLUE);
  });

  it("shows a page in dark mode on request", async () => {
    const light = await picture("/dark", { format: "png" });
    expectColour(light, 100, 100, WHITE);
    const dark = await picture("/dark", { format: "png", darkMode: "true" });
    expectColour(dark, 100, 100, BLUE);
  });

  it("shows a part of the page, finer, without the elements that are not wanted", async () => {
    const clip = { clip: "100,2000,300,200", format: "png" };
    // Also an element that appears later.
    const fine = await picture("/covered", { ...clip, hide: ".cover", scale: "1.5", delay: "1" });
    expect(fine).toMatchObject({ width: 450, height: 300 });
    expect(colourAt(fine, 225, 150)).toEqual(BLUE);
    expect(await picture("/bands", { ...clip, size: "l" })).toMatchObject({ width: 400, height: 267 });
    const beyond = await thumbs("/bands", { clip: "0,3000,10,10" });
    expect(beyond.status).toBe(400);
    expect(await errorOf(beyond)).toMatchObject({
      param: "clip",
      message: expect.stringContaining("1200 by 3000"),
    });
  });

  it("waits, clicks and scrolls on a page before it takes the picture", async () => {
    const query = new URLSearchParams({
      url: `${pages.origin}/steps`,
      ...{ waitForSelector: "#ready", scroll: "true", format: "png", delay: "1" },
      ...{ locale: "de-at", timezone: "asia/tokyo" },
    });
    for (const selector of ["#next", ".go"]) query.append("click", selector);
    const response = await pages.gateway.fetch(`/v1/thumbs?${query}`);
    expect([response.status, response.headers.get("x-page-url")]).toEqual([200, `${pages.origin}/steps-2`]);
    expect(languages).toEqual([expect.stringContaining("de-AT")]);
    expect(colourAt(await decode(await response.arrayBuffer()), 160, 120)).toEqual(GREEN);
  });

  it("leaves out the white behind a page without a background", async () => {
    for (const format of ["png", "webp"]) {
      // Both as the browser has made it, and made smaller.
      for (const size of ["o", "l"]) {
        const image = await picture("/see-through", { transparent: "true", format, size });
        const pixel = (x: number, y: number) => [
          ...image.data.slice((y * image.width + x) * 4, (y * image.width + x) * 4 + 4),
        ];
        expect(pixel(image.width - 1, 10)[3]).toBe(0);
        const [red = -1, green = -1, blue = -1, alpha = -1] = pixel(10, 10);
        expect(isSimilarColour([red, green, blue], BLUE, 4)).toBe(true);
        expect(Math.abs(alpha - 128)).toBeLessThan(4);
      }
    }
  });

  it("names the selector that nothing matches", async () => {
    const answers = await Promise.all(
      [{ waitForSelector: "#nothing" }, { hide: "a{color:red}/*" }].map(async (query) => {
        const response = await thumbs("/bands", query);
        const { code, param } = await errorOf(response);
        return [response.status, code, param];
      }),
    );
    expect(answers).toEqual([
      [404, "selector_not_found", "waitForSelector"],
      [400, "invalid_request", "hide"],
    ]);
  });

  it("prints a page on sheets, prepared as for a picture", async () => {
    const query = {
      format: "pdf",
      paper: "a5",
      landscape: "true",
      margins: "1cm,20mm",
      hide: "div:first-child",
    };
    const response = await thumbs("/bands", query);
    const pdf = Buffer.from(await response.arrayBuffer()).toString("latin1");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(pdf.startsWith("%PDF-")).toBe(true);
    // Half a metre of page, 128 mm on each sheet.
    expect(response.headers.get("x-page-sheets")).toBe("6");
    const [, right, top] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf) ?? [];
    expect([Number(right) / 72, Number(top) / 72].map((inches) => Math.round(inches * 25.4))).toEqual([
      210, 148,
    ]);
    const json = await (await thumbs("/bands", { ...query, output: "json" })).json();
    expect(json).toMatchObject({ mime_type: "application/pdf", width: 794, height: 559 });
  });

  it("captures a page that never finishes loading, and states this", async () => {
    const response = await thumbs("/slow-script", { format: "png" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-page-incomplete")).toBe("true");
    expect(response.headers.get("x-page-incomplete-reason")).toBe("blocked_markup");
    const image = await decode(await response.arrayBuffer());
    expectColour(image, 100, 100, GREEN);
  });

  it("captures an empty page as a white image", async () => {
    const image = await picture("/empty", { format: "png" });
    expect(colourAt(image, 100, 100)).toEqual(WHITE);
  });

  it.each([
    ["url", ""],
    ["url", "javascript:alert(1)"],
    ["output", "xml"],
    ["prettify", "perhaps"],
    ["format", "gif"],
    ["quality", "0"],
    ["quality", "101"],
    ["quality", "9.5"],
    ["quality", "best"],
    ["full", "2"],
    ["size", "xxl"],
    ["size", "0x10"],
    ["size", "16384x10"],
    ["size", "10x"],
    ["width", "0"],
    ["width", "16384"],
    ["height", "-1"],
    ["height", "16384"],
    ["mobile", "phone"],
    ["device", "toaster"],
    ["viewportWidth", "1601"],
    ["viewportWidth", "0"],
    ["viewportHeight", "1601"],
    ["viewport", "1601x10"],
    ["viewport", "800"],
    ["selector", "x".repeat(2000)],
    ["userAgent", "a\nb"],
    ["delay", "11"],
    ["delay", "-1"],
    ["delay", "1.5"],
    ["waitUntil", "never"],
    ["darkMode", "dim"],
    ["blockAds", "some"],
    ["blockCookieBanners", "some"],
    ["maxAge", "-1"],
    ["scale", "0.5"],
    ["clip", "0,0,0,10"],
    ["transparent", "true"],
    ["paper", "a4"],
    ["timezone", "Mars/Olympus"],
    ["locale", "not a locale"],
    ["fullPage", "true"],
    ["SIZE", "l"],
  ])("refuses %s=%s with a 400 that names the parameter", async (name, value) => {
    const response = await thumbs("/bands", { [name]: value });
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ type: "invalid_request_error", param: name });
    expect(error.message).toContain(name);
    expect(error.code).toMatch(/^[a-z_]+$/);
  });

  it("refuses an image of more pixels than it makes", async () => {
    const response = await thumbs("/bands", { width: "16383", height: "16383" });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: "page_too_large", param: "width" });
  });

  it("returns a cached image with its age and a tag, and a 304 if the caller has it", async () => {
    const url = { size: "37x41" };
    const first = await thumbs("/bands", url);
    expect(first.headers.get("x-cache")).toBe("MISS");
    expect(first.headers.get("server-timing")).toMatch(/^queue;dur=\d+.*load;dur=\d+.*read;dur=\d+$/);
    expect(first.headers.get("cache-control")).toBe("public, max-age=86400, stale-while-revalidate=86400");
    const tag = first.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[0-9a-f]+"$/);
    const bytes = Buffer.from(await first.arrayBuffer());
    // The answer is cached after it is sent: an earlier request makes a new answer.
    const second = await until(
      () => thumbs("/bands", url),
      (response) => response.headers.get("x-cache") === "HIT",
    );
    expect(second.headers.has("server-timing")).toBe(false);
    expect(Number(second.headers.get("age"))).toBeGreaterThanOrEqual(0);
    expect(second.headers.get("etag")).toBe(tag);
    expect(second.headers.get("content-length")).toBe(String(bytes.byteLength));
    expect(Buffer.from(await second.arrayBuffer()).equals(bytes)).toBe(true);
    const query = new URLSearchParams({ url: `${pages.origin}/bands`, ...url });
    const third = await pages.gateway.fetch(`/v1/thumbs?${query}`, { headers: { "if-none-match": tag } });
    expect(third.status).toBe(304);
    expect(await third.text()).toBe("");
    const fresh = await thumbs("/bands", { ...url, maxAge: "0" });
    expect(fresh.headers.get("x-cache")).toBe("BYPASS");
    expect(fresh.headers.get("cache-control")).toBe("no-store");
    await fresh.arrayBuffer();
  });

  it("completes a page whose client has left, and caches its image", async () => {
    const query = new URLSearchParams({ url: `${pages.origin}/long`, delay: "1" });
    const leaving = new AbortController();
    const left = pages.gateway.fetch(`/v1/thumbs?${query}`, { signal: leaving.signal });
    const isLeft = expect(left).rejects.toThrow();
    await until(
      async () => [...paths],
      (seen) => seen.includes("/long"),
    );
    leaving.abort();
    await isLeft;
    await until(
      async () => [...paths],
      (seen) => seen.includes("/long/end"),
    );
    const next = await until(
      () => pages.gateway.fetch(`/v1/thumbs?${query}`),
      (response) => response.headers.get("x-cache") === "HIT",
    );
    expect(next.headers.get("x-page-status")).toBe("200");
    await next.arrayBuffer();
  });

  it.each(["thumbs", "metadata"])(
    "does not load a page whose client left the queue: %s",
    async (operation) => {
      const headers = { "cf-connecting-ip": "192.0.2.77" };
      const address = (path: string, delay = "0") =>
        `/v1/${operation}?${new URLSearchParams({ url: `${pages.origin}/${operation}${path}`, delay })}`;
      const load = async (path: string, delay?: string) => {
        const response = await pages.gateway.fetch(address(path, delay), { headers });
        await response.arrayBuffer();
        return response.status;
      };
      // All tabs that one client may use.
      const holders = ["/tab-1", "/tab-2", "/tab-3"].map((path) => load(path, "3"));
      await until(
        async () => [...paths],
        (seen) => ["/tab-1", "/tab-2", "/tab-3"].every((path) => seen.includes(`/${operation}${path}`)),
      );
      const leaving = await rawGet(pages.gateway, address("/left"), headers);
      await sleep(500);
      leaving.resetAndDestroy();
      const statuses = await Promise.all([...holders, load("/stayed")]);
      expect(statuses).toEqual([200, 200, 200, 200]);
      expect([...paths].filter((path) => /left|stayed/.test(path) && path.includes(operation))).toEqual([
        `/${operation}/stayed`,
      ]);
    },
  );

  it("captures a list of pages as a job that continues after the answer", async () => {
    const urls = [`${pages.origin}/bands?1`, `${pages.origin}/halves?1`, "http://10.0.0.1/"];
    const begun = await pages.gateway.fetch("/v1/thumbs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ urls, size: "s", format: "png" }),
    });
    expect(begun.status).toBe(202);
    const location = begun.headers.get("location") ?? "";
    const { id } = JSON.parse(await begun.text());
    expect(location).toBe(`/v1/jobs/${id}`);
    const look = async () => JSON.parse(await (await pages.gateway.fetch(location)).text());
    await expect.poll(async () => (await look()).status, { timeout: 60_000 }).toBe("completed");
    const { progress, results } = await look();
    expect(progress).toEqual({ total: 3, completed: 2, failed: 1, cancelled: 0 });
    expect(results[2]).toMatchObject({
      url: urls[2],
      resultUrl: null,
      error: { code: "url_host_forbidden" },
    });
    for (const { resultUrl } of results.slice(0, 2)) {
      const response = await pages.gateway.fetch(resultUrl);
      expect(response.headers.get("content-type")).toBe("image/png");
      expect(await decode(await response.arrayBuffer())).toMatchObject({ width: 120, height: 90 });
    }
    const gone = await pages.gateway.fetch(`${location}0`);
    expect([gone.status, (await errorOf(gone)).code]).toEqual([404, "job_not_found"]);
  });

  it("answers HEAD, and refuses other methods", async () => {
    const query = new URLSearchParams({ url: `${pages.origin}/bands` });
    const head = await pages.gateway.fetch(`/v1/thumbs?${query}`, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toBe("image/jpeg");
    const post = await pages.gateway.fetch(`/v1/thumbs?${query}`, { method: "PUT" });
    expect(post.status).toBe(405);
    expect(post.headers.get("allow")).toContain("GET");
    expect((await errorOf(post)).type).toBe("invalid_request_error");
  });
});
