import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { assertProviderAddress, parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { describeUnknownVariables } from "../../../../src/core/variables/unknown-variables.ts";

const options = { drivers: ["sessions", "openai"] };
const ofCommand = (...names: string[]) => describeUnknownVariables(names, options, { isOwn: true });
const ofProcess = (...names: string[]) => describeUnknownVariables(names, options, { isOwn: false });

describe("the names of variables", () => {
  it.each([
    ["PROVIDER_BASEURL", "PROVIDER_BASE_URL"],
    ["provider_base_url", "PROVIDER_BASE_URL"],
    ["ADMINKEY", "ADMIN_KEY"],
    ["QUEUE_TIMEOUT", "there is no variable"],
    ["COLOUR", "docs/variables.md lists all."],
  ])("cause a warning with a hint if unknown: %s", (name, hint) => {
    expect(ofCommand(name)).toEqual([expect.stringContaining(hint)]);
  });

  it("cause no warning if they are known or belong to other programs", () => {
    expect(ofCommand("ADMIN_KEY", "PORT", "PROVIDER_MODELS", "CLOUDFLARE_ENV")).toEqual([]);
    const others = [
      "PATH",
      "HOME",
      "LANG",
      "SHELL",
      "NODE_ENV",
      "npm_config_registry",
      "OTEL_PROPAGATORS",
      "HOSTNAME",
    ];
    expect(ofProcess(...others)).toEqual([]);
    expect(ofProcess("PROVIDER_BASEURL", "PAGE_RATE", "ADMINKEY")).toHaveLength(3);
  });

  it("are documented", () => {
    const text = readFileSync("docs/variables.md", "utf8");
    const documented = [...text.matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, names = ""]) =>
      [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name),
    );
    expect(documented.length).toBeGreaterThan(40);
    expect(ofCommand(...documented.filter((name) => !name.startsWith("OTEL_")))).toEqual([]);
  });

  it("require an address for any driver but the sandbox's", () => {
    const check = (env: Record<string, string>) => () =>
      assertProviderAddress(parseVariables(env, options), options.drivers);
    expect(check({})).not.toThrow();
    expect(check({ PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: "http://e/v1" })).not.toThrow();
    expect(check({ PROVIDER_DRIVER: "openai" })).toThrow(
      "PROVIDER_BASE_URL is missing: with PROVIDER_DRIVER openai it must be the provider's address",
    );
  });
});
