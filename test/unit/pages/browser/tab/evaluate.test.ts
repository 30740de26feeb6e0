import { describe, expect, it } from "vitest";
import { evaluateInPage, evaluateIsolated } from "../../../../../src/pages/browser/tab/evaluate.ts";

/** A page that answers 1 in its own world and 2 in an isolated one; null: it is navigating away. */
function createPage(world: number | null) {
  const commands: string[] = [];
  const send = async (method: string, parameters: object) => {
    commands.push(method);
    if (world === null && method === "Page.createIsolatedWorld") throw new Error("No frame");
    return { executionContextId: world ?? 0, result: { value: "contextId" in parameters ? 2 : 1 } };
  };
  return { commands, session: { send }, policy: { mainFrame: "frame" } };
}

describe("the evaluation of a script in a page", () => {
  it("is in the page's own world or in an isolated one", async () => {
    const page = createPage(7);
    expect(await evaluateInPage(page.session, "0", 1_000)).toBe(1);
    expect(await evaluateIsolated(page, "0", 1_000)).toBe(2);
  });

  it("is never in the page's own world because an isolated one cannot be made", async () => {
    const page = createPage(null);
    expect(await evaluateIsolated(page, "0", 1_000)).toBeUndefined();
    expect(page.commands).toEqual(["Page.createIsolatedWorld"]);
  });
});
