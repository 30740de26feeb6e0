import { afterAll, describe, expect, it } from "vitest";
import { VERSION } from "../../src/core/version.ts";
import { serve } from "../support/local-server.ts";
import { useGateway } from "../support/use-gateway.ts";

const RELEASE = {
  tag_name: "v99.1.0",
  html_url: "https://code.example/releases/v99.1.0",
  published_at: "2026-01-02T03:04:05Z",
};
let asked = 0;
const releases = await serve((_, response) => {
  asked += 1;
  response.end(JSON.stringify(RELEASE));
});
afterAll(() => releases.close());
const RELEASES_URL = `${releases.origin}/latest`;
const OWN = { success: true, current_version: VERSION, current_tag: `v${VERSION}`, source: "build" };

const known = useGateway({ vars: { RELEASES_URL } });
const unknown = useGateway();
const version = async ({ fetch }: typeof known) => {
  const response = await fetch("/admin/version", { headers: { authorization: "Bearer admin" } });
  expect(response.status).toBe(200);
  const answer: Record<string, unknown> = await response.json();
  return answer;
};

describe("GET /admin/version", () => {
  it("states the build and the latest release, which it requests once", async () => {
    const expected = {
      ...OWN,
      checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      latest_tag: "v99.1.0",
      latest_version: "99.1.0",
      release_url: RELEASE.html_url,
      published_at: RELEASE.published_at,
      has_update: true,
    };
    expect(await version(known)).toEqual(expected);
    expect(await version(known)).toEqual(expected);
    expect(asked).toBe(1);
  });

  it("answers 200 with the reason if the latest release is unknown", async () => {
    expect(await version(unknown)).toEqual({
      ...OWN,
      checked_at: expect.any(String),
      latest_tag: "",
      latest_version: "",
      release_url: "",
      published_at: "",
      has_update: false,
      check_error: expect.stringContaining("RELEASES_URL"),
    });
  });
});
