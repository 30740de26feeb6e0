import { describe, expect, it } from "vitest";
import { getSigningSecret } from "../../../../src/core/auth/signing-secret.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import { emptyConfig } from "../../../support/config.ts";

type Needed = { readonly variables: Pick<Platform["variables"], "adminKey"> };

function secretOf(adminKey: string | null, passwordHash = "", writable = false): Promise<string | null> {
  const config = emptyConfig();
  const platform: Needed = { variables: { adminKey } };
  return getSigningSecret(platform, {
    version: 1,
    config: { ...config, admin: { ...config.admin, password_hash: passwordHash } },
    envBacked: !writable,
    writable,
  });
}

describe("the secret that signs tokens for a read-only configuration", () => {
  it("does not exist without an admin key or password, because anybody could derive it", async () => {
    expect(await secretOf(null)).toBeNull();
  });

  it("depends on the admin key and the password", async () => {
    const secrets = await Promise.all([secretOf("key"), secretOf("other"), secretOf(null, "hash")]);
    expect(new Set(secrets).size).toBe(3);
    expect(secrets).not.toContain(null);
  });

  it("is not derived if a secret can be stored", async () => {
    expect(await secretOf("key", "", true)).toBeNull();
  });
});
