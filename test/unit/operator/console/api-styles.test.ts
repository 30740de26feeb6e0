import { expect, it } from "vitest";
import { SHARED_STYLES } from "../../../../src/core/config/styles.ts";
import { DIALECTS } from "../../../../src/gateway/dialects/index.ts";
import { DRIVER_NAMES } from "../../../../src/gateway/providers/drivers.ts";
import { formatApiStyle, formatDriver } from "../../../../src/operator/console/ui/api-styles.ts";

it("has a name for each API style of the gateway", () => {
  const ids = [...DIALECTS.map(({ id }) => id), ...SHARED_STYLES];
  expect(ids.filter((id) => formatApiStyle(id) === id)).toEqual([]);
  expect(formatApiStyle("of-a-later-version")).toBe("of-a-later-version");
});

it("gives the protocols of providers the names of their API styles", () => {
  const names: readonly string[] = DRIVER_NAMES;
  expect(formatDriver("anthropic")).toBe(formatApiStyle("messages"));
  expect(names.map(formatDriver)).toContain(formatApiStyle("chat-completions"));
});
