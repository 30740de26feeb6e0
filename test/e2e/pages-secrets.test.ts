import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import type { Gateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { html, startPageService } from "../support/pages.ts";

const KEY = { authorization: "Bearer sk-dev" };
const SECRETS = {
  headers: ["X-Token: token-4711"],
  cookies: ["session=cookie-4711"],
  authorization: "Basic dXNlcjo0NzEx",
};
const VALUES = ["token-4711", "cookie-4711", "dXNlcjo0NzEx"];

/** A request that a site got. */
interface Arrival {
  readonly path: string;
  /** The secrets in it, wherever they are. */
  readonly secrets: readonly string[];
}

describeWithBrowser("the secrets of a page", () => {
  let own: LocalServer;
  let other: LocalServer;
  let otherPort: LocalServer;
  let gateway: Gateway;
  let otherOrigin = "";
  const arrivals = { own: [] as Arrival[], elsewhere: [] as Arrival[] };

  const record = (list: Arrival[], url = "", headers: object = {}) => {
    const text = JSON.stringify(headers) + url;
    list.push({ path: url, secrets: VALUES.filter((value) => text.includes(value)) });
  };

  beforeAll(async () => {
    own = await serve(({ url, headers }, response, { pathname }) => {
      record(arrivals.own, url, headers);
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("timing-allow-origin", "*");
      const redirect = (location: string) => response.writeHead(302, { location }).end();
      switch (pathname) {
        case "/page":
          return html(
            response,
            `<img src="/image"><img src="/redirected-image"><img src="${otherOrigin}/image"><img src="${otherPort.origin}/image">
             <script src="${otherOrigin}/script.js"></script><iframe src="${otherOrigin}/frame"></iframe>
             <iframe src="/own-frame"></iframe>
             <script>fetch("/data"); fetch("${otherOrigin}/data"); fetch("${otherPort.origin}/data", { mode: "no-cors", credentials: "include" });
               fetch("${otherPort.origin}/sent", { method: "POST", mode: "no-cors", credentials: "include", body: "x" });
               new Worker("/worker.js")</script>`,
          );
        case "/worker.js":
          response.setHeader("content-type", "text/javascript");
          return response.end(`fetch("${otherOrigin}/worker")`);
        case "/redirected-image":
          return redirect(`${otherOrigin}/redirected-image`);
        case "/leave":
          return redirect(`${otherOrigin}/back`);
        case "/other-port":
          return redirect(`${otherPort.origin}/landed`);
        case "/leave-by-script":
          return html(response, `<script>location = "${otherOrigin}/back"</script>`);
        case "/set":
          response.setHeader("set-cookie", "own=1; path=/");
          return html(response, "set");
        default:
          return html(response, "own");
      }
    });
    const elsewhere = ({ url, headers }: { url?: string | undefined; headers: object }) =>
      record(arrivals.elsewhere, url, headers);
    other = await serve((request, response, { pathname }) => {
      elsewhere(request);
      if (pathname === "/frame" || pathname === "/back") {
        // A page of another origin tries to use the secrets of the first.
        const form = `<form method=post action="${own.origin}/from-other-form" target=inner></form><iframe name=inner></iframe>`;
        const frame = `<iframe src="${own.origin}/from-other-frame"></iframe>`;
        const script = `<script>fetch("${own.origin}/from-other", { credentials: "include", mode: "no-cors" }); document.forms[0].submit()</script>`;
        return html(
          response,
          `<img src="${own.origin}/from-other-image">${form}${frame}${script}${pathname === "/back" ? `<script>setTimeout(() => { location = "${own.origin}/returned" }, 300)</script>` : ""}`,
        );
      }
      response.end();
    });
    otherPort = await serve((request, response) => {
      elsewhere(request);
      html(response, `<img src="${own.origin}/from-other-port">`);
    });
    otherOrigin = other.origin.replace("127.0.0.1", "localhost");
    const hosts = [own.host, other.host, other.host.replace("127.0.0.1", "localhost"), otherPort.host];
    gateway = await startPageService(hosts);
  });

  afterAll(async () => {
    await gateway.close();
    await Promise.all([own.close(), other.close(), otherPort.close()]);
  });

  const post = (operation: string, body: object, headers: Record<string, string> = KEY) => {
    arrivals.own.length = 0;
    arrivals.elsewhere.length = 0;
    return gateway.fetch(`/v1/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  };
  const secretsOf = (list: readonly Arrival[], path: string) =>
    list.find((arrival) => arrival.path === path)?.secrets;
  const leaked = (list: readonly Arrival[]) => list.filter(({ secrets }) => secrets.length > 0);

  it.each(["thumbs", "metadata", "technologies"])("reach only the page's own origin: %s", async (name) => {
    const response = await post(name, { url: `${own.origin}/page`, ...SECRETS, delay: 1 });
    expect([response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    for (const path of ["/page", "/image", "/data"])
      expect(secretsOf(arrivals.own, path), path).toEqual(VALUES);
    expect(arrivals.elsewhere.map(({ path }) => path)).toContain("/frame");
    expect(arrivals.elsewhere.map(({ path }) => path)).toContain("/redirected-image");
    expect(arrivals.elsewhere.map(({ path }) => path)).toContain("/data");
    expect(leaked(arrivals.elsewhere)).toEqual([]);
    // A frame of another origin cannot use them at the first.
    expect(leaked(arrivals.own.filter(({ path }) => path.startsWith("/from-other")))).toEqual([]);
  });

  it.each(["/leave", "/leave-by-script", "/other-port"])(
    "end when the page leads to another origin: %s",
    async (path) => {
      const response = await post("thumbs", { url: own.origin + path, ...SECRETS, delay: 2 });
      expect([response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
      expect(secretsOf(arrivals.own, path)).toEqual(VALUES);
      expect(arrivals.elsewhere.length).toBeGreaterThan(0);
      expect(leaked(arrivals.elsewhere)).toEqual([]);
      expect(leaked(arrivals.own.filter((arrival) => arrival.path !== path))).toEqual([]);
    },
  );

  it("are not in the next page's requests, in the cache, in a job or in the log", async () => {
    const first = await post("thumbs", { url: `${own.origin}/set`, ...SECRETS });
    expect(first.status).toBe(200);
    await first.arrayBuffer();
    const second = await post("thumbs", { url: `${own.origin}/set` });
    expect([second.status, second.headers.get("x-cache")]).toEqual([200, "MISS"]);
    await second.arrayBuffer();
    expect(leaked(arrivals.own)).toEqual([]);
    const again = await post("thumbs", { url: `${own.origin}/set`, ...SECRETS });
    expect([again.status, again.headers.get("x-cache")]).toEqual([200, "BYPASS"]);
    await again.arrayBuffer();
    expect(secretsOf(arrivals.own, "/set")).toEqual(VALUES);
    const job = await post("thumbs", { urls: [`${own.origin}/set`], ...SECRETS });
    expect([job.status, await job.text()]).toEqual([400, expect.stringContaining("job")]);
    for (const value of VALUES) expect(gateway.logs().join("\n")).not.toContain(value);
  });

  it("are refused without a key", async () => {
    for (const [name, value] of Object.entries(SECRETS)) {
      const response = await post("thumbs", { url: `${own.origin}/page`, [name]: value }, {});
      expect([response.status, JSON.parse(await response.text()).error.param]).toEqual([403, name]);
    }
    expect(arrivals.own).toEqual([]);
  });
});
