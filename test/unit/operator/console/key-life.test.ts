import { describe, expect, it } from "vitest";
import {
  describeKeyState,
  fromLocalInput,
  toLocalInput,
} from "../../../../src/operator/console/pages/keys/key-expiry.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const USED = {
  parallel: 0,
  requests_per_minute: 0,
  tokens_per_minute: 0,
  tokens_per_day: 0,
  tokens_per_month: 0,
  cost_per_day: 0,
  cost_per_month: 3,
};
const key = (fields: object) => ({
  disabled: false,
  expires: 0,
  grace_until: 0,
  limits: {},
  used: USED,
  ...fields,
});

describe("the state of a key", () => {
  it.each([
    [{}, "good", "active"],
    [{ disabled: true, expires: NOW - 1 }, "neutral", "disabled"],
    [{ expires: NOW }, "bad", "expired"],
    [{ expires: NOW + 3 * DAY }, "warn", "expires in 3 days"],
    [{ expires: NOW + 30 * DAY }, "good", "active"],
    [{ grace_until: NOW + DAY }, "live", "rotated; the old key expires in 24 h"],
    [{ grace_until: NOW }, "good", "active"],
    [{ limits: { cost_per_month: 2 } }, "warn", "Limit reached"],
    [{ limits: { cost_per_month: 4 } }, "good", "active"],
    [{ limits: { cost_per_month: 2 }, disabled: true }, "neutral", "disabled"],
  ])("is shown for %j as %s: %s", (fields, tone, text) => {
    expect(describeKeyState(key(fields), NOW)).toEqual({ tone, text });
  });

  it("has its expiry in the reader's time zone, to the minute", () => {
    expect(toLocalInput(0)).toBe("");
    expect(fromLocalInput("")).toBe(0);
    expect(fromLocalInput("no date")).toBe(0);
    const minute = Math.floor(NOW / 60_000) * 60_000;
    expect(fromLocalInput(toLocalInput(minute))).toBe(minute);
  });
});
