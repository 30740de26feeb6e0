import { describe, expect, test } from "vitest";
import { assertModelAllowed, isAddressInNetworks } from "../../../../src/core/auth/access-rules.ts";
import { parseNetwork } from "../../../../src/core/config/cidr-network.ts";

describe("networks", () => {
  test.each([
    ["192.0.2.7", "192.0.2.0/24", true],
    ["192.0.3.7", "192.0.2.0/24", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.8", "192.0.2.7", false],
    ["::ffff:192.0.2.7", "192.0.2.0/24", true],
    ["192.0.2.7", "::ffff:192.0.2.0/120", true],
    ["2001:db8::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["2001:db8::1", "0.0.0.0/0", false],
    ["192.0.2.7", "::/0", false],
    ["192.0.2.7", "0.0.0.0/0", true],
    // An address that the platform cannot vouch for.
    ["", "0.0.0.0/0", false],
    ["192.0.2.7", "no network", false],
  ])("%s in %s: %s", (address, network, expected) => {
    expect(isAddressInNetworks(address, [network])).toBe(expected);
  });

  test.each(["", "192.0.2.0/33", "192.0.2.0/", "example.com", "2001:db8::/129"])(
    "rejects a malformed network: %j",
    (text) => {
      expect(parseNetwork(text)).toBeNull();
    },
  );
});

test.each([
  [["a"], "a", true],
  [["a"], "ab", false],
  [["a*"], "ab", true],
  [["*"], "anything", true],
  [["b"], "a", false],
])("models %j let %s in: %s", (models, requested, expected) => {
  const key = { id: "k", name: "", entry: { key: "sk", name: "", remark: "", models } };
  const check = () => assertModelAllowed({ key }, {}, { requested, id: "canonical" });
  if (expected) expect(check).not.toThrow();
  else expect(check).toThrow("may not use the model");
});
