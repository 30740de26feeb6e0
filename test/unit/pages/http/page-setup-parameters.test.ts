import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { readSetup } from "../../../../src/pages/http/page-setup-parameters.ts";
import { QueryParameters } from "../../../../src/pages/http/query-parameters.ts";
import { PLAIN_SETUP } from "../../../support/page-browser.ts";

const read = (query: string, access: "public" | "link" | "key" = "key") =>
  readSetup(new QueryParameters(new URLSearchParams(query)), { privateHosts: new Set(), access });

function refusal(query: string, access: "public" | "link" | "key" = "key"): unknown {
  try {
    return read(query, access);
  } catch (error) {
    return error instanceof GatewayError ? [error.status, error.param] : error;
  }
}

describe("the parser of setup parameters", () => {
  it("changes nothing unless asked", () => {
    expect(read("", "public")).toEqual(PLAIN_SETUP);
  });

  it("reads headers, cookies and authorization", () => {
    expect(read("headers=X-Token:%20a:b&cookies=session=x=y&authorization=Bearer%20z").secrets).toEqual({
      headers: [
        { name: "x-token", value: "a:b" },
        { name: "authorization", value: "Bearer z" },
      ],
      cookies: [{ name: "session", value: "x=y" }],
    });
  });

  it.each([
    ["headers=nothing", "headers"],
    ["headers=a%20b:c", "headers"],
    ["headers=x:a%0d%0ay:b", "headers"],
    ["headers=x:%C3%A9", "headers"],
    ["headers=Host:evil", "headers"],
    ["headers=Cookie:a", "headers"],
    ["headers=Sec-Fetch-Site:none", "headers"],
    ["headers=Proxy-Authorization:x", "headers"],
    ["headers=x:1&headers=X:2", "headers"],
    ["headers=authorization:1&authorization=2", "authorization"],
    ["authorization=%C3%A9", "authorization"],
    ["cookies=a", "cookies"],
    ["cookies=a=b;domain=evil", "cookies"],
    ["cookies=a%20b=c", "cookies"],
    ["scripts=", "scripts"],
    ["failOnStatus=600", "failOnStatus"],
    ["failOnStatus=4x", "failOnStatus"],
    ["blockResources=everything", "blockResources"],
  ])("refuses %s", (query, param) => {
    expect(refusal(query)).toEqual([400, param]);
  });

  it("accepts secrets only with a key, and styles and scripts with a signed link, too", () => {
    for (const [name, value] of [
      ["headers", "a:b"],
      ["cookies", "a=b"],
      ["authorization", "x"],
    ]) {
      expect(refusal(`${name}=${value}`, "public")).toEqual([403, name]);
      expect(refusal(`${name}=${value}`, "link")).toEqual([403, name]);
    }
    for (const name of ["styles", "scripts"]) {
      expect(refusal(`${name}=x`, "public")).toEqual([403, name]);
      expect(read(`${name}=x`, "link")).toMatchObject({ [name]: ["x"] });
    }
  });

  it("reads statuses and types in any case, and sorts them", () => {
    const { failOn, blockedTypes } = read(
      "failOnStatus=404&failOnStatus=5XX&blockResources=Script&blockResources=image",
    );
    expect(failOn.statuses).toEqual([
      { from: 404, to: 404 },
      { from: 500, to: 599 },
    ]);
    expect(blockedTypes).toEqual(["image", "script"]);
  });
});
