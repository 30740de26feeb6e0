import { texts } from "./texts.ts";

/** Conditions of accounts: the gateway's name, the label, and the tone of its badge. */
export const CONDITIONS = [
  ["ok", texts.conditions.ok, "good"],
  ["failing", texts.conditions.failing, "bad"],
  ["cooling", texts.conditions.cooling, "warn"],
  ["untested", texts.conditions.untested, ""],
  ["disabled", texts.conditions.disabled, ""],
] as const;
