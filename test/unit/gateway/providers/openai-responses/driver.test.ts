import { describe, expect, it } from "vitest";
import { type Refusal, refusingModel } from "../driver-row.ts";
import { ask } from "../support.ts";
import { openaiResponsesDriverRow } from "./driver-row.ts";
import { provider } from "./fake.ts";

/** What only this protocol has. What every driver must do is tested in `../drivers.test.ts`. */

const picky = (judge: Refusal["judge"]) => refusingModel(openaiResponsesDriverRow, judge);

const effortOf = ({ reasoning }: Record<string, unknown>): unknown => Object(reasoning).effort;

describe("a model that refuses what others know", () => {
  it("and must think does so as much as the caller requests", async () => {
    const fake = picky((request) =>
      effortOf(request) === "none"
        ? "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'minimal', 'low', 'medium', and 'high'."
        : undefined,
    );
    const driver = provider();
    await ask(driver, fake, { thinking: false });
    const asked = { thinking: true, options: { reasoningEffort: "high" } };
    expect(effortOf(await ask(driver, fake, asked))).toBe("high");
  });

  it("and lacks short answers gives its shortest", async () => {
    const fake = picky((request) =>
      Number(request["max_output_tokens"]) < 16
        ? "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead."
        : undefined,
    );
    const driver = provider();
    const limit = async (maxTokens: number) =>
      (await ask(driver, fake, { options: { maxTokens } }))["max_output_tokens"];
    expect([await limit(1), await limit(3), await limit(17)]).toEqual([16, 16, 17]);
    expect(fake.seen.length).toBe(4);
  });
});
