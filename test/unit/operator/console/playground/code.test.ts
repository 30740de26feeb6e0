import { execFileSync } from "node:child_process";
import { transform } from "esbuild";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { javascriptLiteral, pythonLiteral } from "../../../../../src/gateway/dialects/playground/literals.ts";
import type { PlaygroundRequest } from "../../../../../src/gateway/dialects/playground/types.ts";
import { formatCurl } from "../../../../../src/operator/console/shared/curl.ts";
import { playgrounds } from "./playgrounds.ts";

const ask: PlaygroundRequest = {
  model: "provider-v4-flash",
  system: 'It\'s "quoted"\nand goes on: $HOME `pwd`',
  turns: [{ role: "user", text: "Say 'hi' \\ there" }],
  tools: [{ name: "f", description: "", parameters: { type: "object", additionalProperties: false } }],
  stream: true,
};

describe("the code to copy", () => {
  it("is a command line that a shell parses into the same request", () => {
    for (const dialect of playgrounds) {
      const request = dialect.buildRequest(ask);
      const command = formatCurl("http://localhost:8787", request, { "x-gateway-target-account": "it's@me" });
      const script = `curl() { for part in "$@"; do printf '%s\\0' "$part"; done; }; POLYGATE_KEY=sk-1; ${command}`;
      const parts = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0");
      expect(parts[1]).toBe(`http://localhost:8787${request.path}`);
      expect(parts).toContain("Authorization: Bearer sk-1");
      expect(parts).toContain("x-gateway-target-account: it's@me");
      expect(JSON.parse(parts[parts.indexOf("-d") + 1] ?? "")).toEqual(request.body);
    }
  });

  it("is valid JavaScript in every style, streamed or not", async () => {
    for (const dialect of playgrounds) {
      for (const stream of [true, false]) {
        const wanted = { ...ask, stream };
        const code = dialect.toJavascript("http://localhost:8787", dialect.buildRequest(wanted), wanted);
        await expect(transform(code, { format: "esm", target: "es2022" })).resolves.toBeDefined();
        expect(code).toContain("provider-v4-flash");
        expect(code).not.toContain("sk-");
      }
    }
  });

  it("writes any JSON value as the same JavaScript value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read: unknown = new Function(`return (${javascriptLiteral(value)});`)();
        expect(JSON.stringify(read)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("writes values in Python's syntax", () => {
    expect(pythonLiteral({ a: true, b: [null, 1, "x"], c: {}, d: [] })).toBe(
      '{\n    "a": True,\n    "b": [\n        None,\n        1,\n        "x",\n    ],\n    "c": {},\n    "d": [],\n}',
    );
  });
});
