import { expect, it } from "vitest";
import { handleRequest } from "../../../../src/app.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";

const createGateway = useMemoryGateway();

it("the public page is the same for every host, so it may be cached", async () => {
  const gateway = await createGateway();
  const page = async (url: string) => {
    const runtime = { platform: gateway.platform, waitUntil: gateway.waitUntil, clientAddress: "" };
    const response = await handleRequest(new Request(url), runtime);
    expect(response.headers.get("cache-control")).toContain("public");
    return response.text();
  };
  const own = await page("https://gateway.test/");
  expect(await page("https://evil.example:81/?x=<script>")).toBe(own);
  expect(own).not.toContain("gateway.test");
});
