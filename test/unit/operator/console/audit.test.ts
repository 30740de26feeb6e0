import { describe, expect, test } from "vitest";
import {
  describeActor,
  describeSession,
} from "../../../../src/operator/console/pages/audit/describe-actor.ts";
import { formatTime } from "../../../../src/operator/console/ui/format.ts";

const AT = Date.UTC(2026, 10, 26, 9, 30);

describe("the author of a change", () => {
  test.each([
    ["key", null, "admin key or password", ""],
    ["admin:ada", null, "ada", ""],
    ["token:4f1c", null, "admin key or password", "session 4f1c"],
    ["token:4f1c", { at: AT, address: "192.0.2.1" }, "admin key or password", `signed in ${formatTime(AT)}`],
    [
      "token:4f1c",
      { at: AT, address: "192.0.2.9" },
      "admin key or password",
      `signed in ${formatTime(AT)} from 192.0.2.9`,
    ],
  ])("%s is shown with the details of the session", (who, session, actor, said) => {
    expect(describeActor({ who })).toBe(actor);
    expect(describeSession({ who, session, address: "192.0.2.1" })).toBe(said);
  });
});
