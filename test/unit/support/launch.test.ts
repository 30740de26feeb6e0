import { describe, expect, it } from "vitest";
import { banner, fileVars, nodeProblem, varsOf } from "../../../scripts/launch.mjs";

describe("what a start says", () => {
  it.each(["22.12.0", "22.13.1", "24.0.0", "26.1.0"])("is nothing about Node %s", (version) => {
    expect(nodeProblem(version)).toBe("");
  });

  it.each(["18.20.0", "20.20.2", "22.11.0"])("is a sentence about Node %s, which is too old", (version) => {
    expect(nodeProblem(version)).toContain(`needs Node 22.12 or newer, and this is ${version}.`);
  });

  it("names the provider that the arguments and the file of variables choose", () => {
    const args = [
      "--port",
      "1",
      "--var",
      "PROVIDER_DRIVER:openai",
      "PROVIDER_BASE_URL:http://e:1/v1",
      "--ip=x:y",
    ];
    const vars = varsOf([...args, "--var=ADMIN_KEY:mine"]);
    expect(vars).toEqual({
      PROVIDER_DRIVER: "openai",
      PROVIDER_BASE_URL: "http://e:1/v1",
      ADMIN_KEY: "mine",
    });
    expect(banner("http://h:1", vars, [])).toContain("Provider   http://e:1/v1 (driver openai)");
    expect(fileVars('# PROVIDER=no\nA=1\nexport B = "x y"\n')).toEqual({ A: "1", B: "x y" });
  });

  it("tells the admin key only when it is the one of development, and the sandbox only where there is one", () => {
    const development = { GATEWAY_DEVELOPMENT: "true", ADMIN_KEY: "admin" };
    expect(banner("http://h:1", development, [])).toMatch(/admin key: admin[\s\S]*the sandbox/);
    const other = banner("http://h:1", { ADMIN_KEY: "secret" }, []);
    expect(other).not.toMatch(/secret|sandbox|sk-dev/);
    expect(other).toContain("none: set PROVIDER_BASE_URL");
  });
});
