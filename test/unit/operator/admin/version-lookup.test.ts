import { describe, expect, it, onTestFinished } from "vitest";
import { isOlder, ReleaseLookup } from "../../../../src/operator/admin/version-lookup.ts";
import { type RequestHandler, serve } from "../../../support/local-server.ts";

/** More than a busy machine needs; what never answers need not be waited for as long. */
const PATIENCE_MS = 10_000;
const SILENCE_MS = 200;

async function lookup(handler: RequestHandler, timeoutMs = PATIENCE_MS) {
  let asked = 0;
  const { origin, close } = await serve((request, response, at) => {
    asked += 1;
    return handler(request, response, at);
  });
  onTestFinished(close);
  const clock = { now: 1_000_000 };
  const found = new ReleaseLookup({
    url: `${origin}/latest`,
    fetch: (at, init) => fetch(at, init),
    now: () => clock.now,
    timeoutMs,
  });
  return { found, clock, asked: () => asked };
}

describe("the look-up of the latest release", () => {
  it("asks once in a quarter of an hour", async () => {
    const { found, clock, asked } = await lookup((_, response) => response.end('{"tag_name":"v9.0.0"}'));
    expect(await found.latest()).toMatchObject({ at: 1_000_000, release: { tag_name: "v9.0.0" }, error: "" });
    clock.now += 14 * 60_000;
    expect(await found.latest()).toMatchObject({ at: 1_000_000 });
    expect(asked()).toBe(1);
    clock.now += 2 * 60_000;
    await found.latest();
    expect(asked()).toBe(2);
  });

  it.each<[string, RequestHandler, string]>([
    ["fails", (_, response) => response.writeHead(500).end(), "status 500"],
    ["answers nonsense", (_, response) => response.end("<html>"), "JSON"],
    ["answers something else", (_, response) => response.end("{}"), "tag_name"],
    ["refuses", (request) => request.socket.destroy(), "cannot be reached"],
    ["breaks off", (_, response) => response.write("{", () => response.destroy()), "broke off"],
    ["says nothing", () => undefined, "too long"],
  ])("states the reason if the other side %s, and retries after a minute", async (_, listener, why) => {
    const { found, clock, asked } = await lookup(listener, why === "too long" ? SILENCE_MS : PATIENCE_MS);
    expect(await found.latest()).toMatchObject({ release: null, error: expect.stringContaining(why) });
    clock.now += 30_000;
    await found.latest();
    expect(asked()).toBe(1);
    clock.now += 31_000;
    await found.latest();
    expect(asked()).toBe(2);
  });

  it("sends no request without an address", async () => {
    const nobody = new ReleaseLookup({
      url: "",
      fetch: () => expect.fail("somebody was asked"),
      now: () => 0,
    });
    expect(await nobody.latest()).toMatchObject({ error: expect.stringContaining("RELEASES_URL") });
  });
});

it.each([
  ["3.0.0", "3.0.1", true],
  ["3.0.9", "3.0.10", true],
  ["3.9.0", "4.0.0", true],
  ["v3.0.0", "3.0.0", false],
  ["3.0", "3.0.0", false],
  ["3.1.0", "3.0.9", false],
  ["3.0.0-rc.2", "3.0.0", true],
  ["3.0.0", "3.0.0-rc.2", false],
  ["3.0.0-rc.2", "3.0.0-rc.10", true],
  ["3.0.0+build.5", "3.0.0", false],
])("%s comes before %s: %s", (one, other, older) => {
  expect(isOlder(one, other)).toBe(older);
});
