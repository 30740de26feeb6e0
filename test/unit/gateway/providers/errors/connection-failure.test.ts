import { describe, expect, it } from "vitest";
import { createConnectionError } from "../../../../../src/gateway/providers/errors/connection-failure.ts";

const caused = (message: string, code?: string) =>
  new TypeError("fetch failed", {
    cause: Object.assign(new Error(message), code === undefined ? {} : { code }),
  });

describe("the error of a provider that cannot be reached", () => {
  it.each([
    [caused("getaddrinfo ENOTFOUND engine.test", "ENOTFOUND"), "the name of its host does not resolve"],
    [
      new TypeError(
        "error sending request: client error (Connect): dns error: failed to lookup address information",
      ),
      "the name of its host does not resolve",
    ],
    [caused("connect ECONNREFUSED 10.0.0.7:11434", "ECONNREFUSED"), "nothing listens at its address"],
    [new TypeError("tcp connect error: Connection refused (os error 111)"), "nothing listens at its address"],
    [caused("self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT"), "the TLS connection failed"],
    [
      new TypeError("client error (Connect): invalid peer certificate: UnknownIssuer"),
      "the TLS connection failed",
    ],
    [caused("connect ETIMEDOUT 10.0.0.7:443", "ETIMEDOUT"), "the connection was not made in time"],
    [caused("connect EHOSTUNREACH: no route to host"), "its network cannot be reached"],
    [new Error("Network connection lost."), "it does not run, or the connection broke"],
    [caused("read ECONNRESET: connection reset", "ECONNRESET"), "the connection broke"],
  ])("states the reason if the runtime gives one: %s", (thrown, reason) => {
    const { message, kind } = createConnectionError(thrown);
    expect(kind).toBe("unreachable");
    expect(message).toContain(`the provider cannot be reached: ${reason}`);
  });

  it("hides the address, and states no reason if the runtime gives none", () => {
    const told = createConnectionError(caused("connect ECONNREFUSED 10.0.0.7:11434 engine.internal"));
    expect(told.message).not.toMatch(/10\.0|internal/);
    for (const thrown of [new Error("internal error; reference = x"), "text", undefined])
      expect(createConnectionError(thrown).message).toBe("the provider cannot be reached");
  });
});
