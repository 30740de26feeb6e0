import { expect, test } from "vitest";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { checkPageAddress, readPageAddressOptions } from "../../../../src/pages/http/page-address.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

const createGateway = useMemoryGateway();

const PRIVATE = [
  "localhost:3000",
  "http://127.0.0.1:8080/x",
  "http://[::1]/",
  "intranet",
  "http://2130706433/",
];

test.each(PRIVATE)("a deployed service names its setting, and nothing else: %s", (url) => {
  const check = checkPageAddress(url, { privateHosts: new Set(["10.0.0.7:80"]) });
  expect(check).toMatchObject({ ok: false, code: "url_host_forbidden" });
  const message = check.ok ? "" : check.message;
  expect(message).toMatch(
    /^The host of the parameter url is not allowed: .*\. The setting PAGE_PRIVATE_HOSTS lists exceptions\.$/,
  );
  expect(message).not.toMatch(/npm|10\.0\.0\.7/);
});

test.each([
  ["http://localhost:3000/app", [], "localhost:3000"],
  ["localhost", ["127.0.0.1:9911"], "127.0.0.1:9911,localhost:80"],
  ["https://[::1]/", [], "[::1]:443"],
])("in development, the error says how to allow %s", (url, listed, setting) => {
  const options = { privateHosts: new Set(listed), isDevelopment: true };
  const check = checkPageAddress(url, options);
  expect(check.ok ? "" : check.message).toContain(`npm start -- --var PAGE_PRIVATE_HOSTS:${setting} (`);
  const variables = parseVariables({ PAGE_PRIVATE_HOSTS: setting }, { drivers: ["openai"] });
  expect(checkPageAddress(url, readPageAddressOptions(variables))).toMatchObject({ ok: true });
});

test("other errors stay as they are", () => {
  const check = checkPageAddress("ftp://localhost/", { privateHosts: new Set(), isDevelopment: true });
  expect(check).toMatchObject({ message: "The parameter url must be an http or https URL." });
});

test.each([
  ["true", "To allow it, start with npm start -- --var PAGE_PRIVATE_HOSTS:localhost:3000 "],
  ["false", "The setting PAGE_PRIVATE_HOSTS lists exceptions."],
])("every kind of call says so (development: %s)", async (development, hint) => {
  const gateway = await createGateway({ env: { GATEWAY_DEVELOPMENT: development } });
  const headers = { authorization: `Bearer ${KEY}` };
  const addresses = ["thumbs", "technologies", "metadata", "content"].flatMap((path) => [
    path,
    `${path}?async=true`,
  ]);
  for (const path of addresses) {
    const mark = path.includes("?") ? "&" : "?";
    const answer = await gateway.request(`/v1/${path}${mark}url=http://localhost:3000/`, { headers });
    const { error } = Object(await answer.json());
    expect([answer.status, error.code, error.message], path).toEqual([
      400,
      "url_host_forbidden",
      expect.stringContaining(hint),
    ]);
  }
  const batch = await gateway.post("/v1/thumbs", { urls: ["http://localhost:3000/"] });
  const { id } = Object(await batch.json());
  const { results } = Object(await (await gateway.request(`/v1/jobs/${id}`, { headers })).json());
  expect(results[0].error).toMatchObject({ message: expect.stringContaining(hint) });
});
