import { describe, expect, it } from "vitest";
import {
  getConsoleAssetPath,
  redirectToConsolePage,
  serveConsoleFile,
} from "../../../src/operator/console-files.ts";

const FILES: Readonly<Record<string, string>> = {
  "/console/index.html": "page",
  "/console/console-ABCD1234.js": "script",
  "/data/technologies.json": "rules",
};

async function assets(request: Request): Promise<Response | null> {
  const text = FILES[new URL(request.url).pathname];
  return text === undefined ? null : new Response(text);
}

async function get(path: string, method = "GET"): Promise<Response | null> {
  const url = new URL(path, "http://gateway");
  return serveConsoleFile(new Request(url, { method }), url, assets);
}

describe("the console's files", () => {
  it("are the page at /admin and the rest under /console/", () => {
    expect(getConsoleAssetPath("/admin")).toBe("/console/index.html");
    expect(getConsoleAssetPath("/admin/")).toBe("/console/index.html");
    expect(getConsoleAssetPath("/key")).toBe("/console/key.html");
    expect(getConsoleAssetPath("/console/console-ABCD1234.js")).toBe("/console/console-ABCD1234.js");
  });

  it.each([
    "/",
    "/admin/login",
    "/admin/x",
    "/console",
    "/data/technologies.json",
    "/console/../data/technologies.json",
    "/console/%2e%2e/data/technologies.json",
    "/v1/models",
  ])("are not at %s", async (path) => {
    expect(getConsoleAssetPath(new URL(path, "http://gateway").pathname)).toBeNull();
    expect(await get(path)).toBeNull();
  });

  it.each(["/console//", "/console//[", "/console//elsewhere/index.html"])(
    "do not exist at %s",
    async (path) => {
      expect(await get(path)).toBeNull();
    },
  );

  it("have a content security policy without other origins and inline scripts", async () => {
    const policy = (await get("/admin"))?.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  it("are cached for ever if their name has a hash, and otherwise revalidated", async () => {
    expect((await get("/console/console-ABCD1234.js"))?.headers.get("cache-control")).toContain("immutable");
    expect((await get("/admin"))?.headers.get("cache-control")).toBe("no-cache");
  });

  it("are read-only", async () => {
    expect(await get("/admin", "POST")).toBeNull();
    expect(await get("/console/nothing.js")).toBeNull();
  });

  it("redirect a browser, but no program, from a page's path to the page", () => {
    const browser = new Headers({ "sec-fetch-dest": "document" });
    const location = (path: string, headers = browser, method = "GET") =>
      redirectToConsolePage(method, path, headers)?.headers.get("location");
    expect(location("/admin/history")).toBe("/admin#/history");
    expect(location("/admin/keys/")).toBe("/admin#/keys");
    expect(location("/admin/keys", new Headers())).toBeUndefined();
    expect(location("/admin/keys", browser, "POST")).toBeUndefined();
    expect(location("/admin/keys/one")).toBeUndefined();
    expect(location("/admin")).toBeUndefined();
  });
});
